package objects

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urlfold/urlfold/internal/ground/logging"
	"github.com/urlfold/urlfold/internal/ground/metric"
	"github.com/urlfold/urlfold/internal/ground/pause"
	storage "github.com/urlfold/urlfold/internal/storage/objects"
	"github.com/urlfold/urlfold/internal/storage/objects/s3"
	"github.com/urlfold/urlfold/pipeline/engine"
	"github.com/urlfold/urlfold/sources/file"
)

// A queue delivers messages. All methods except open and close may be called
// concurrently.
type queue interface {
	name() string
	open(ctx context.Context) error
	// check connects and finds mistakes. It changes nothing.
	check(ctx context.Context) error
	// fetch waits a little for messages, and returns at most n.
	fetch(ctx context.Context, n int) ([]*message, error)
	ack(ctx context.Context, m *message) error
	// keep prevents the redelivery of a message. It is called for each message in
	// progress whenever the duration that every returns has passed.
	keep(ctx context.Context, m *message) error
	every() time.Duration
	// giveBack lets the queue deliver a message again at once.
	giveBack(ctx context.Context, m *message) error
	// empty reports whether all messages are acknowledged, as far as the queue
	// can tell.
	empty(ctx context.Context) bool
	health() error
	close(ctx context.Context) error
}

// A message is a message in progress: delivered, and not yet acknowledged.
type message struct {
	text       []byte
	handle     string        // identifies the message for the queue
	ticket     engine.Ticket // identifies the message in place of handle, for Kafka
	deliveries int           // number of deliveries, including this one; 0: unknown
	left       int           // objects that are not done; guarded by source.mu
}

// A watcher is the source of package file.
type watcher interface {
	engine.Source
	engine.CutCommitter
	engine.Keeper
	engine.Finisher
	engine.Healther
	CommitKeys(ctx context.Context, cut engine.KeyCut) error
	Damaged(limit int) (list []file.Damage, counts map[string]int)
	Metrics(emit metric.Emit)
}

// A source reads the objects that messages name. It implements [engine.Source]
// and [file.Queue].
type source struct {
	watcher
	cfg     Config
	log     *slog.Logger
	queue   queue
	rt      engine.Runtime
	news    chan struct{}
	slots   chan struct{} // holds a value for each message in progress
	outage  *logging.Outage
	away    *logging.Outage // outage of HEAD requests
	connect sync.Mutex
	store   *storage.Store

	ctx    context.Context // context of Run
	opened atomic.Bool
	quit   context.CancelFunc // ends keepers
	keeper sync.WaitGroup
	tasks  sync.WaitGroup // goroutines of Run
	acks   sync.WaitGroup

	mu      sync.Mutex
	running bool                  // tasks may be added
	held    map[*message]struct{} // messages in progress
	works   map[version]*work
	letters map[*engine.Lane][]*message // dead letters that are not durable
	counts  struct{ received, acked, dead int64 }
}

// A version identifies one version of an object.
type version struct{ path, etag string }

// A work is an object that is listed, with the messages that name it.
type work struct {
	found    storage.Found
	ref      Reference // the reference in the first message
	messages []*message
}

// slotsPerReader is how many messages may be in progress for each object that is
// read at the same time. An object stays in progress until its records are
// committed, which takes up to commit_interval.
const slotsPerReader = 16

// New returns a source for c. It uses all fields of env except the settings
// and the objects. New does not connect.
func New(c Config, env file.WatchConfig) (engine.Source, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	s := &source{
		cfg: c, log: env.Logger, news: make(chan struct{}, 1), slots: make(chan struct{}, slotsPerReader*max(1, c.Readers)),
		held: map[*message]struct{}{}, works: map[version]*work{}, letters: map[*engine.Lane][]*message{}, quit: func() {},
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.queue = &jetStream{cfg: c.JetStream, log: s.log}
	switch {
	case c.SQS.URL != "":
		s.queue = &sqs{cfg: c.SQS, store: c.S3}
	case len(c.Kafka.Topics) > 0:
		c.Kafka.UntilEOF = c.UntilEOF
		q, err := newTopics(c.Kafka, cap(s.slots), s.log)
		if err != nil {
			return nil, err
		}
		s.queue = q
	}
	s.outage = logging.NewOutage(s.log, "read failed, retrying", "read recovered", "queue", s.queue.name())
	s.away = logging.NewOutage(s.log, "read failed, retrying", "read recovered", "queue", "the bucket of an object")
	env.Settings, env.UntilEOF = c.files(), false
	env.Objects = &file.Objects{Connect: s.bucket, Queue: s, News: s.news}
	w, err := file.NewWatcher(env)
	if err != nil {
		return nil, err
	}
	s.watcher = w.(watcher)
	return s, nil
}

// bucket returns the store. It finds the credentials when it is first called.
func (s *source) bucket() (*storage.Store, error) {
	s.connect.Lock()
	defer s.connect.Unlock()
	if s.store == nil {
		store, err := s3.Connect(s.cfg.S3, os.Getenv, s.log)
		if err != nil {
			return nil, err
		}
		s.store = store
	}
	return s.store, nil
}

// Open implements [engine.Source].
func (s *source) Open(ctx context.Context, rt engine.Runtime) error {
	if _, err := s.bucket(); err != nil {
		return err
	}
	if err := s.queue.open(ctx); err != nil {
		return err
	}
	s.rt = rt
	s.opened.Store(true)
	return s.watcher.Open(ctx, rt)
}

// CheckConnect checks the credentials and the queue. It creates nothing.
func (s *source) CheckConnect(ctx context.Context) error {
	if _, err := s.bucket(); err != nil {
		return err
	}
	return s.queue.check(ctx)
}

// Run implements [engine.Source].
func (s *source) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	keep, quit := context.WithCancel(context.Background())
	s.quit = quit // called by Close: the last records are committed after Run
	s.keeper.Go(func() { s.keepAll(keep) })
	s.mu.Lock()
	s.ctx, s.running = ctx, true
	s.mu.Unlock()
	s.task(func() { s.receive(ctx) })
	if s.cfg.UntilEOF {
		s.task(func() { s.awaitEnd(ctx, cancel) })
	}
	err := s.watcher.Run(ctx)
	cancel()
	s.mu.Lock()
	s.running = false
	s.mu.Unlock()
	s.tasks.Wait()
	return err
}

// task runs f in a goroutine of Run. It does nothing if Run is over, because
// the message of f is then delivered again.
func (s *source) task(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running {
		s.tasks.Go(f)
	}
}

// endEvery is how often a run that ends with its input asks whether the queue is
// empty.
const endEvery = 100 * time.Millisecond

// awaitEnd ends the run when the queue is empty.
func (s *source) awaitEnd(ctx context.Context, end func()) {
	for pause.For(ctx, endEvery) == nil {
		s.mu.Lock()
		n := len(s.held)
		s.mu.Unlock()
		if n == 0 && s.queue.empty(ctx) {
			end()
		}
	}
}

// receive takes messages from the queue as long as there are free slots.
func (s *source) receive(ctx context.Context) {
	for ctx.Err() == nil {
		n := s.reserve(ctx)
		if n == 0 {
			return
		}
		list, err := s.queue.fetch(ctx, n)
		for range n - len(list) {
			<-s.slots
		}
		for _, m := range list {
			s.mu.Lock()
			s.held[m] = struct{}{}
			s.counts.received++
			s.mu.Unlock()
			s.task(func() { s.take(ctx, m) })
		}
		switch {
		case err == nil:
			s.outage.Clear()
		case ctx.Err() == nil:
			s.outage.Set(err)
			_ = pause.For(ctx, time.Second) // the loop looks at ctx
		}
	}
}

// mostFetched is the maximum number of messages of one request. SQS has the
// same limit.
const mostFetched = 10

// reserve waits for a free slot and reserves as many as there are, at most
// mostFetched. It returns 0 when ctx is done.
func (s *source) reserve(ctx context.Context) (n int) {
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return 0
	}
	for n = 1; n < mostFetched; n++ {
		select {
		case s.slots <- struct{}{}:
		default:
			return n
		}
	}
	return n
}

// take finds the objects that m names.
func (s *source) take(ctx context.Context, m *message) {
	refs, err := referencesIn(m.text)
	s.mu.Lock()
	m.left = max(1, len(refs))
	s.mu.Unlock()
	switch most := s.cfg.MaxDeliveries; {
	case err != nil:
		s.bury(ctx, Reference{Verdict: "invalid-message", Detail: err.Error(), Message: string(m.text)}, m)
	case len(refs) == 0:
		s.done(m)
	case most > 0 && m.deliveries > most:
		for _, ref := range refs {
			ref.Verdict, ref.Detail = "max-deliveries", fmt.Sprintf("delivered %d times, and never finished", m.deliveries-1)
			s.bury(ctx, ref, m)
		}
	default:
		for _, ref := range refs {
			s.look(ctx, ref, m)
		}
	}
}

// looks is how often the store is asked about an object that it refuses.
const looks = 3

// look lists the object of a reference for messages, or gives it up if it cannot
// be read.
func (s *source) look(ctx context.Context, ref Reference, messages ...*message) {
	for try := 1; ; try++ {
		o, err := s.store.HeadVersion(ctx, ref.URL, ref.VersionID)
		kind := storage.KindOf(err)
		if ctx.Err() != nil {
			return
		}
		if err != nil && !kind.Lasting() {
			s.away.Set(fmt.Errorf("%s: %w", ref.URL, err))
		} else {
			s.away.Clear()
		}
		switch {
		case err == nil && ref.ETag != "" && ref.ETag != o.ETag:
			ref.Verdict, ref.Detail = "changed", "the object was replaced, its etag is now "+o.ETag
			s.bury(ctx, ref, messages...)
			return
		case err == nil:
			s.list(&o, ref, messages)
			return
		case kind == storage.NotFound, kind.Lasting() && try >= looks:
			ref.Verdict, ref.Detail = unreadable, err.Error()
			s.bury(ctx, ref, messages...)
			return
		}
		if pause.For(ctx, time.Duration(try)*time.Second) != nil {
			return
		}
	}
}

// unreadable is the verdict on an object that the store does not return.
const unreadable = "unreadable"

// list adds an object to the listed objects.
func (s *source) list(o *storage.Object, ref Reference, messages []*message) {
	found := storage.Found{Object: *o, Rel: storage.Local(o.Key)}
	if o.StandsForFolder() {
		s.done(messages...)
		return
	}
	s.mu.Lock()
	v := version{o.Path(), o.ETag}
	if s.works[v] == nil {
		s.works[v] = &work{found: found, ref: ref}
	}
	s.works[v].messages = append(s.works[v].messages, messages...)
	s.mu.Unlock()
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// Listed implements [file.Queue].
func (s *source) Listed() []storage.Found {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]storage.Found, 0, len(s.works))
	for _, w := range s.works {
		list = append(list, w.found)
	}
	return list
}

// unlist removes an object from the listed objects. It returns the work for the
// object, or an empty work.
func (s *source) unlist(o *storage.Object) (w work) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := version{o.Path(), o.ETag}
	if found := s.works[v]; found != nil {
		w = *found
		delete(s.works, v)
	}
	return w
}

// Changed implements [file.Queue]. The source reads the current version instead, unless
// the message names the version that no longer exists.
func (s *source) Changed(o *storage.Object) {
	if w := s.unlist(o); len(w.messages) > 0 {
		s.task(func() { s.look(s.ctx, w.ref, w.messages...) })
	}
}

// Done implements [file.Queue].
func (s *source) Done(o *storage.Object, damage string) {
	list := s.unlist(o).messages
	switch {
	case len(list) == 0:
	case damage == "":
		s.done(list...)
	default:
		s.task(func() { s.bury(s.ctx, referenceOf(o, damage), list...) })
	}
}

// done records that one object of each message is done, and acknowledges the
// messages that have no other object left.
func (s *source) done(list ...*message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range list {
		if m.left--; m.left > 0 {
			continue
		}
		s.acks.Go(func() { s.ack(m) })
	}
}

// ack acknowledges a message. If that fails, the message is delivered again, and
// the checkpoint shows that nothing is left to do.
func (s *source) ack(m *message) {
	err := s.queue.ack(context.Background(), m)
	s.mu.Lock()
	delete(s.held, m)
	if err == nil {
		s.counts.acked++
	}
	s.mu.Unlock()
	if err != nil {
		s.log.Warn("acknowledgment failed, message will be delivered again", "error", err)
	}
	<-s.slots
}

// inProgress returns the messages in progress.
func (s *source) inProgress() (list []*message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for m := range s.held {
		list = append(list, m)
	}
	return list
}

// keepAll keeps all messages in progress until ctx is done.
func (s *source) keepAll(ctx context.Context) {
	for pause.For(ctx, s.queue.every()) == nil {
		for _, m := range s.inProgress() {
			if err := s.queue.keep(ctx, m); err != nil && ctx.Err() == nil {
				s.outage.Set(err)
			}
		}
	}
}

// Close implements [engine.Source]. It gives back the messages whose objects are
// not done.
func (s *source) Close(ctx context.Context) error {
	s.quit()
	s.keeper.Wait()
	s.acks.Wait()
	for _, m := range s.inProgress() {
		_ = s.queue.giveBack(ctx, m) // if this fails, the message is only delivered again later
	}
	return errors.Join(s.queue.close(ctx), s.watcher.Close(ctx))
}

// Health implements [engine.Healther].
func (s *source) Health() error {
	if !s.opened.Load() {
		return errors.New("not connected")
	}
	return errors.Join(s.queue.health(), s.outage.Err(), s.away.Err(), s.watcher.Health())
}

// Metrics calls emit for each metric of s and of its watcher.
func (s *source) Metrics(emit metric.Emit) {
	s.watcher.Metrics(emit)
	if q, ok := s.queue.(*topics); ok {
		q.source.Metrics(emit)
	}
	s.mu.Lock()
	held, n := len(s.held), s.counts
	s.mu.Unlock()
	count, gauge := metric.Of(emit)
	count("source_messages_total", "Messages delivered to this instance.", n.received)
	gauge("source_references", "Messages in progress: delivered, and not acknowledged.", int64(held))
	count("source_references_acknowledged_total", "Messages acknowledged because all their objects are done.", n.acked)
	count("source_references_dead_total", "Objects that were given up or are damaged, and became dead letters.", n.dead)
}

// Interface guards.
var (
	_ engine.CutCommitter = (*source)(nil)
	_ engine.Keeper       = (*source)(nil)
	_ engine.Finisher     = (*source)(nil)
	_ file.Queue          = (*source)(nil)
)
