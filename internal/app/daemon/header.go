package daemon

import (
	"bytes"
	"fmt"

	"github.com/urlfold/urlfold/config"
)

// header returns the line at the beginning of each output, or nil.
func (p *plan) header() []byte {
	if p.jobs == nil || !p.file.Codec.Render.Header() { // jobs are nil during validation
		return nil
	}
	return p.jobs[0].Header()
}

// headerFor returns the header of an output. stdout gets it once, even if a
// reload replaces the pipeline.
func (p *plan) headerFor(c *config.Component, e *env) []byte {
	header := p.header()
	if c == p.file.DeadLetter || c.Type == "stdout" && bytes.Equal(header, e.headed) {
		return nil
	}
	return header
}

// checkHeader rejects a header if a sink writes messages.
func (k *checker) checkHeader() {
	r := &k.file.Codec.Render
	if !r.Header() || !k.sound("codec.to") || r.Form == "" {
		return
	}
	for _, c := range each(k.file.Sinks) {
		if brokerSinks[c.Type] {
			path := "codec.to"
			if r.CSV != nil || r.TSV != nil {
				path += "." + r.Form + ".header"
			}
			k.wrong(path, fmt.Sprintf("the sink %s writes messages, and each of them would need the header: set codec.to to {%s: {fields: […], header: false}}", c.Name, r.Form))
			return
		}
	}
}
