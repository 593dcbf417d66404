package endtoend

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
)

// letterLimit is the largest message that the topic or stream of the dead letters
// accepts.
const letterLimit = 4096

// letterRecords returns records that cannot be parsed, of sizes from the limit minus
// 2 KiB to the limit: of control characters, which JSON makes six times as long, of
// quotes, of bytes that are no UTF-8, and of letters. Each is unique. URLFOLD_ROUNDS is
// the number of sizes.
func letterRecords(t *testing.T) (all [][]byte) {
	sizes := rounds(t, 17, 2049)
	for i := range sizes {
		size := letterLimit - 2048*i/max(1, sizes-1)
		for _, fill := range []string{"\x01", `"`, "\xff", "x"} {
			name := fmt.Sprint(len(all), " ")
			all = append(all, []byte(name+strings.Repeat(fill, size-len(name))))
		}
	}
	return all
}

// judgeLetters checks that each record has one dead letter that the limit admits. A
// letter holds its record, or the length and the hash of it.
func judgeLetters(t *testing.T, what string, records [][]byte, letters []string) {
	t.Helper()
	type sum = [sha256.Size]byte
	left := map[sum]int{}
	for _, r := range records {
		left[sha256.Sum256(r)] = len(r)
	}
	cut := 0
	for _, text := range letters {
		var l struct {
			Reason, Sha256, Record string
			Record64               []byte `json:"record_b64"`
			Truncated              bool
			Length                 int
		}
		if err := json.Unmarshal([]byte(text), &l); err != nil || l.Reason == "" || len(text) > letterLimit {
			t.Fatalf("a dead letter of %d bytes, %v: %.100q", len(text), err, text)
		}
		record := append(l.Record64, l.Record...)
		id, length := sha256.Sum256(record), len(record)
		if l.Truncated {
			cut++
			length = l.Length
			b, err := hex.DecodeString(l.Sha256)
			if err != nil || copy(id[:], b) != len(id) {
				t.Fatalf("the hash %q: %v", l.Sha256, err)
			}
		}
		if want, ok := left[id]; !ok || want != length {
			t.Errorf("a dead letter twice, or of no record, or with the length %d instead of %d: %.100q", length, want, text)
		}
		delete(left, id)
	}
	t.Logf("figure: %s: %d records of up to %d bytes, %d dead letters, %d of them cut", what, len(records), letterLimit, len(letters), cut)
	if len(left) > 0 || cut == 0 || cut == len(letters) {
		t.Errorf("%d records have no dead letter", len(left))
	}
}

// TestKafkaLetterSizes sends records of every size up to the limit of the topic of
// the dead letters, none of which can be parsed. Each must become a dead letter, if
// necessary cut, and the lane must reach its end.
func TestKafkaLetterSizes(t *testing.T) {
	onBrokers(t, func(t *testing.T, w *kafkaWorld) {
		kafkatest.CreateTopic(t, w.conn, w.topic("small"), 1, map[string]string{"max.message.bytes": fmt.Sprint(letterLimit)})
		config := strings.Replace(w.config(), "from: lines", "from: jsonl\n      url_field: url", 1)
		config = strings.Replace(config, w.name+"-dead", w.name+"-small, compress: none", 1)
		p := start(t, config)
		records := letterRecords(t)
		var parts [kafkaPartitions][]kafka.Record
		for i, r := range records {
			parts[i%kafkaPartitions] = append(parts[i%kafkaPartitions], kafka.Record{Millis: time.Now().UnixMilli(), Value: r})
		}
		ends := make([]int64, kafkaPartitions)
		for i, list := range parts {
			ends[i] = int64(len(list))
			for batch := range slices.Chunk(list, 50) {
				kafkatest.Write(t, w.client, w.topic("in"), i, "none", batch...)
			}
		}
		advance(t, "all is committed", nil, func() bool {
			return slices.Equal(kafkatest.Committed(t, w.conn, w.name, w.topic("in"), kafkaPartitions), ends)
		})
		stop(t, p)
		client := kafkatest.Client(t, w.conn, w.topic("small"))
		var letters []string
		for _, r := range kafkatest.Read(t, client, w.topic("small"), 1)[0] {
			letters = append(letters, string(r.Value))
		}
		what := "real broker"
		if w.fake {
			what = "kfake"
		}
		judgeLetters(t, what, records, letters)
	})
}

// TestNATSLetterSizes is TestKafkaLetterSizes with a stream that limits the size of
// its messages.
func TestNATSLetterSizes(t *testing.T) {
	t.Parallel()
	w := newNATS(t, "position")
	if _, err := w.js.UpdateStream(w.context(), jetstream.StreamConfig{
		Name: "OUT", Subjects: []string{"out.>"}, Storage: jetstream.MemoryStorage, Duplicates: time.Hour, MaxMsgSize: letterLimit,
	}); err != nil {
		t.Fatal(err)
	}
	p := start(t, strings.Replace(w.config(), "from: lines", "from: jsonl\n      url_field: url", 1))
	records := letterRecords(t)
	for _, r := range records {
		if _, err := w.js.PublishAsync("in.x", r, jetstream.WithStallWait(patience)); err != nil {
			t.Fatal(err)
		}
	}
	w.drained()
	stop(t, p)
	var letters []string
	for seq := range uint64(w.stored()) {
		m, err := w.out.GetMsg(w.context(), seq+1)
		if err != nil {
			t.Fatal(err)
		}
		letters = append(letters, string(m.Data))
	}
	judgeLetters(t, "stream", records, letters)
}
