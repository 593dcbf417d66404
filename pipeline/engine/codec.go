package engine

// A Codec turns the records of a batch into output. Each worker has its own, so
// a codec needs no lock. It does not retain any part of a batch, and allocates
// nothing per batch once its scratch buffers have grown.
//
// The pipeline calls the methods for one batch at a time. It calls Process; if
// that panics, it calls Reject for the record at b.Next and then Process again,
// as often as necessary. Later, if a sink has permanently refused records, any
// worker may call Refuse for each of them.
type Codec interface {
	// Process handles the records of b.In from b.Next on and, with b.Msgs, the
	// messages from b.NextMsg on. It sets b.Next and b.NextMsg to the start of
	// each record that it is about to read, and appends to b.Out, b.Dead and
	// b.Stats. It returns with b.Next == len(b.In) and b.NextMsg ==
	// len(b.Msgs).
	Process(b *Batch)
	// Reject handles the record at b.Next without reading its content. It
	// removes the output and the counts that Process has left for this record,
	// passes the record through or appends it to b.Dead with the reason
	// record.Panic, and moves b.Next past it.
	Reject(b *Batch)
	// Refuse appends to b.Dead the dead letter of the record at b.Next of
	// message b.NextMsg, with the reason record.Refused. It changes neither
	// b.Out nor b.Stats; the pipeline moves the record in the ledger. It is
	// called only if there is a dead letter.
	Refuse(b *Batch)
}

// A Stopper is a [Codec] that may end the run. If Err is not nil after Process
// returns, neither the record at b.Next of message b.NextMsg nor any later
// record is handled. The part of the batch before that record, or before the
// message that contains it, is processed again as a separate batch if the
// source can divide the batch (see [Splitter]). The rest reaches no sink and,
// with an ordering, nor does any later batch of the lane. The watermark of the
// lane stops before the record. Everything up to there is drained, as after a
// soft stop, and the run fails with the error, which must not contain any byte
// of a record.
type Stopper interface{ Err() error }
