package record

// JobConfig returns the settings of a *record.Job of package codec/record, which sets it:
// package pipeline takes a Job, too.
var JobConfig func(job any) (Config, error)
