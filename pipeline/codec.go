package pipeline

// A Codec turns the records of a batch into output. Each worker has its own, so
// it needs no lock. It keeps nothing of a batch after it returns, and allocates
// nothing per batch once its scratch has grown.
//
// The methods are called for one batch at a time: Process; if that panics,
// Reject for the record at b.Next and Process again, as often as it takes; and
// much later, if a sink has refused records for good, Refuse for each of them,
// by any worker.
type Codec interface {
	// Process handles the records of b.In from b.Next on, and with b.Msgs the
	// messages from b.NextMsg on. It sets both to the start of each record before it
	// touches it, appends to b.Out, b.Dead and b.Stats, and returns with b.Next ==
	// len(b.In) and b.NextMsg == len(b.Msgs).
	Process(b *Batch)
	// Reject handles the record at b.Next without reading its content. What
	// Process has left in the output arenas and in the counts for this record is
	// cut off again; the record is passed through or put into b.Dead with
	// record.Panic as the reason, and b.Next moves past it.
	Reject(b *Batch)
	// Refuse appends to b.Dead the dead letter of the record at b.Next, of the
	// message b.NextMsg, with record.Refused as the reason. It changes neither b.Out nor b.Stats: the
	// pipeline moves the record in the ledger. It is called only if there is a
	// dead letter.
	Refuse(b *Batch)
}

// A Stopper is a [Codec] that may end the run: if Err is not nil after Process has
// returned, the record at b.Next, of the message b.NextMsg, is not handled and no
// record behind it may be. The part of its batch that lies before it, or before the
// message that it is in, is handled again as a batch of its own, if the source can
// divide it (see [Splitter]). The rest gets into no sink, nor, if there is an order,
// any batch behind it in its lane, and the watermark of the lane stops before it. What
// lies before is drained, as after a soft stop, and the run fails with the error, which
// holds no byte of a record.
type Stopper interface{ Err() error }
