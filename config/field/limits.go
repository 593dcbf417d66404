package field

// Limits bound the cost of reading compressed input.
type Limits struct {
	// How many bytes may come out for one that goes in, once 64 MiB came out; -1: any
	// number.
	MaxRatio int64 `yaml:"max_ratio" min:"-1"`
	// How many bytes may come out of one file; 0: any number.
	MaxDecompressed Size `yaml:"max_decompressed"`
	// The largest window of a zstd file and the largest dictionary of an xz file, which
	// is about the memory that reading it takes. Files made with zstd --long=31 need 2GiB.
	MaxWindow Size `yaml:"max_window" min:"1KiB"`
}

// DefaultLimits returns the limits that apply unless others are configured.
func DefaultLimits() Limits {
	return Limits{MaxRatio: 1000, MaxWindow: 128 * MiB}
}
