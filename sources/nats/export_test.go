package nats

// Types that external tests need.
type (
	JetStream = jetStream
	Core      = core
)
