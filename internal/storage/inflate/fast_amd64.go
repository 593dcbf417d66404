package inflate

import "golang.org/x/sys/cpu"

var bmi2 = cpu.X86.HasBMI2 && cpu.X86.HasSSSE3

// run decodes symbols.
func (l *loop) run() {
	if bmi2 {
		loopBMI2(l)
	} else {
		l.portable()
	}
}

// loopBMI2 is portable for processors with BMI2, which can shift by any register
// and keep the lowest bits in one instruction.
//
//go:noescape
func loopBMI2(l *loop)
