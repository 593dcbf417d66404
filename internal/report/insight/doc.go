// Package insight answers questions about all records of a run: which keys are
// the most frequent, how many there are, and which parameters change no page. It
// counts while a pipeline runs and evaluates afterwards.
//
//	worker ─▶ rows of tsv ─▶ selector ─▶ keys ─▶ tally, set or sketch ─▶ rows of a table
//
// The results do not depend on the number of workers.
//
//	select.go    what is counted: fields, and the names of parameters and flags
//	period.go    hours and days
//	codec.go     rows of the batches of a worker
//	top.go       the most frequent keys
//	count.go     how many keys
//	survey.go    what a report shows
//	readable.go  values as people read them
//	levels.go    how many duplicates each level of keys removes
//	learn.go     parameters and segments that do not change the page
//	print.go     tables, tsv, csv, JSON lines and Parquet
package insight
