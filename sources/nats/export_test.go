package nats

// What tests of whole runs read of the sources.
type (
	JetStream = jetStream
	Core      = core
)
