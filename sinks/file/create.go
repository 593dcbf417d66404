package file

import (
	"github.com/urlfold/urlfold/internal/kinds"
	"github.com/urlfold/urlfold/pipeline"
)

// Create returns a sink that writes records to the file at path: for [pipeline.New]. The
// extension selects the compression, as in a configuration; "{source.relpath}" and "{seq}" in path
// make one file for each input and piece, which gets its name when it is whole and ends in
// ".part" until then. A file at any other path is appended to.
//
// Covered by the stability page.
func Create(path string) (pipeline.Sink, error) {
	cfg := DefaultLogConfig()
	cfg.Path = path
	s, err := NewLog(cfg)
	if err != nil {
		return nil, err
	}
	return kinds.Outside.SinkOf(s).(pipeline.Sink), nil
}
