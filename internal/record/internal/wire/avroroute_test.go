package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/ground/avroschema"
	"github.com/urlfold/urlfold/internal/record/internal/jsonlines"
)

// TestAvroRoutes checks that the routes of a schema are found once for each type, not for
// each way through it: here 50 records are the fields of each of 50 records, on 8 levels.
func TestAvroRoutes(t *testing.T) {
	union := `["string"]`
	var path []jsonlines.Step
	for level := range 8 {
		var records []string
		for i := range 50 {
			field := fmt.Sprintf(`"W%d"`, level)
			if i == 0 {
				field = fmt.Sprintf(`{"type": "record", "name": "W%d", "fields": [{"name": "u", "type": %s}]}`, level, union)
			}
			records = append(records, fmt.Sprintf(`{"type": "record", "name": "R%d_%d", "fields": [{"name": "f", "type": %s}]}`, level, i, field))
		}
		union = "[" + strings.Join(records, ",") + "]"
		path = append(path, jsonlines.Step{Name: []byte("f")}, jsonlines.Step{Name: []byte("u")})
	}
	root, err := avroschema.Parse([]string{`{"type": "record", "name": "R", "fields": [{"name": "u", "type": ` + union + `}]}`})
	if err != nil {
		t.Fatal(err)
	}
	router := avroRouter{}
	if r := router.route(root, append([]jsonlines.Step{{Name: []byte("u")}}, path...)); r == nil {
		t.Error("no route")
	}
	if n := len(router); n > 1000 {
		t.Errorf("%d types were visited", n)
	}
}
