package daemon

import (
	"context"
	"testing"

	"github.com/urlfold/urlfold/internal/kinds"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A meeting is a source whose connection check ends when that of another one begins.
type meeting struct {
	engine.Source
	point chan struct{}
}

func (m meeting) CheckConnect(ctx context.Context) error {
	select {
	case m.point <- struct{}{}:
	case <-m.point:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// TestConnectTogether: no connection check waits for another one, so a server that does
// not answer takes no time from them.
func TestConnectTogether(t *testing.T) {
	cat, m := testCatalog(t), meeting{point: make(chan struct{})}
	source := cat.sources["nats"]
	source.New = func(any, kinds.SourceEnv) (engine.Source, error) { return m, nil }
	cat.sources["nats"] = source
	f, err := loadText(t, "sources:\n- nats: {from: lines, servers: [a], subjects: [x]}\n- nats: {from: lines, servers: [b], subjects: [x]}\nsinks: [{discard: {}}]\n")
	if err != nil {
		t.Fatal(err)
	}
	p, err := cat.newPlan(f)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.connect(t.Context()); err != nil {
		t.Error(err)
	}
}
