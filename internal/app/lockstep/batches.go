package lockstep

import (
	"io"

	"github.com/urlfold/urlfold/internal/ground/tsv"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/storage/arrow"
)

// RunBatches reads an Arrow stream from in. It answers each batch with a batch
// that has the same number of rows and the columns Job.Columns. The format of
// the job must be table.Arrow, and its rendering arrow. Column is the name of
// the column with the URL, as in [arrow.NewReader]. The schema of the answers
// is written before anything is read. A null is answered with a row of nulls,
// and so is a URL without a result; Stats.Lines counts the rows. Empty and
// Chunks are not used.
func RunBatches(in io.Reader, out io.Writer, column string, c Config) (Stats, error) {
	b := &batches{Config: c, worker: c.Job.NewWorker(), queue: newQueue(out, c.MaxAhead), in: arrow.NewReader(in, column)}
	b.queue.stalled, b.queue.patience = c.Stalled, c.StallTime
	b.out = arrow.NewWriter(b, c.Job.Columns(), false)
	err := b.run()
	if e := b.queue.close(); e != nil { // the cause of an error of Write
		err = e
	}
	return b.stats, err
}

// batches answers the batches of one stream.
type batches struct {
	Config
	worker    *record.Worker
	queue     *queue
	in        *arrow.Reader
	out       *arrow.Writer
	cell, row []byte // the current value as a cell, and its answer
	dead      []byte // unused: the job does not divert
	free      []byte // memory for Write
	off       int64
	stats     Stats
}

// Write adds a message to the queue.
func (b *batches) Write(message []byte) (n int, err error) {
	b.free, err = b.queue.push(append(b.free[:0], message...))
	return len(message), err
}

func (b *batches) run() error {
	if err := b.out.Start(); err != nil {
		return err
	}
	for {
		rows, err := b.in.Next()
		if err == io.EOF {
			return b.out.Close()
		}
		if err != nil {
			return err
		}
		for row := range rows {
			if err := b.answer(row); err != nil {
				return err
			}
		}
		if err := b.out.Batch(); err != nil {
			return err
		}
	}
}

// answer adds the answer to a row of the current batch.
func (b *batches) answer(row int) error {
	value, ok, err := b.in.Value(row)
	if err != nil {
		return err
	}
	b.stats.Lines++
	b.row = b.row[:0]
	if ok {
		b.cell = tsv.AppendEscaped(b.cell[:0], value)
		at := record.Position{Line: b.stats.Lines, Off: b.off, Start: b.off}
		b.off += int64(len(value)) + 1
		b.row, b.dead = b.worker.Append(b.row, b.dead[:0], b.cell, at, &b.stats.Stats)
	}
	if len(b.row) == 0 {
		b.out.AddNull()
		return nil
	}
	_, err = b.out.Add(b.row)
	return err
}
