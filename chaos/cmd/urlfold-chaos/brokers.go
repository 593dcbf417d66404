package main

import (
	"context"
	"fmt"
	"os"
)

// brokers run tests of chaos/endtoend, whose servers are in the process of the test.
// Some also run on the broker that URLFOLD_KAFKA names.
var brokers = []experiment{
	{
		name: "recreate", no: "32", about: "a Kafka topic is deleted and created again, with fewer and with more records: while the program runs, while it is stopped, and while it is stopped and the broker keeps the old offsets; leaders are elected; logs lose their end; on a broker in the process and, if URLFOLD_KAFKA names one, on a real broker",
		bound: "lost 0, doubled 0; each recreated topic that the program knew is counted for each partition; an election counts as nothing; after a truncation, only the records after the new end are doubled",
		run: func(ctx context.Context, l *lab) error {
			return l.onBrokers(ctx, "^(TestKafkaRecreated|TestKafkaElections|TestKafkaTruncated)$", l.times(6, 60), 3, 1)
		},
	},
	{
		name: "unread", no: "33", about: "a JetStream stream deletes messages before they are read, because of its limit: for each retention, with and without a filter",
		bound: "with retention limits and no filter, reported = lost; with a filter, possibly lost ≥ lost; otherwise reported ≤ lost; nothing is reported if nothing was lost",
		run: func(ctx context.Context, l *lab) error {
			return l.onBrokers(ctx, "^TestNATSUnread$", l.times(3, 30), 6, 0)
		},
	},
	{
		name: "letter-sizes", no: "34", about: "records that cannot be parsed, of every size from 2 KiB below the limit of the dead letters to the limit: control characters, quotes, invalid UTF-8 and letters, for Kafka and JetStream",
		bound: "one dead letter for each record, whole or cut with the length and the hash of the record; no lane stops",
		run: func(ctx context.Context, l *lab) error {
			return l.onBrokers(ctx, "LetterSizes$", l.times(33, 2049), 2, 1)
		},
	},
	{
		name: "refuse-bursts", no: "11", about: "bursts of up to 200 records that a broker refuses because they are too large, between records that it accepts, with and without dedupe, for Kafka and JetStream",
		bound: "each record in the output or in the dead letters; with dedupe, each key once in the output, or all of its records in the dead letters; the run reaches the end of its input",
		run: func(ctx context.Context, l *lab) error {
			return l.onBrokers(ctx, "^TestRefusedBursts$", l.times(5, 50), 4, 0)
		},
	},
	{
		name: "mutated", no: "35", about: "answers of Kafka brokers and of a NATS server with a flipped bit, a huge or negative count, or without an end, at the start and while records flow; SIGTERM meanwhile",
		bound: "no panic, ≤ 512 MiB, an end within the shutdown timeout plus 15 seconds; afterwards, new records: lost 0",
		run:   func(ctx context.Context, l *lab) error { return l.onBrokers(ctx, "Mutated$", l.times(4, 40), 4, 0) },
	},
	{
		name: "hang", no: "36", about: "a NATS server neither reads nor answers while the sink writes large messages, the source reports 20,000 messages and 500 idle connections use the admin server",
		bound: "/readyz and /metrics answer within 3 seconds; lost 0 when the server works again",
		run: func(ctx context.Context, l *lab) error {
			return l.onBrokers(ctx, "^TestNATSHang$", l.times(1, 10), 1, 0)
		},
	},
}

// onBrokers runs tests with a number of rounds. The tests must report as
// many figures as cases says or, with a real broker, more in addition.
func (l *lab) onBrokers(ctx context.Context, tests string, rounds, cases, more int) error {
	if os.Getenv("URLFOLD_KAFKA") != "" {
		cases += more
	}
	l.endToEnd(ctx, fmt.Sprintf("URLFOLD_ROUNDS=%d", rounds), tests, cases)
	return nil
}
