package field

// Limits bound the cost of reading compressed input.
type Limits struct {
	// The maximum compression ratio: decompressed bytes per compressed byte. It
	// applies once 64 MiB have been decompressed. -1 means no limit.
	MaxRatio int64 `yaml:"max_ratio" min:"-1" flag:"max-ratio" for:"readers,check" arg:"ratio"`
	// The maximum decompressed size of a file. 0 means no limit.
	MaxDecompressed Size `yaml:"max_decompressed" flag:"max-decompressed" for:"readers,check" arg:"size" bounds:"0,"`
	// The maximum size of the window of a zstd file or of the dictionary of an
	// xz file. Reading the file takes about this much memory. Files written by
	// zstd --long=31 need 2GiB.
	MaxWindow Size `yaml:"max_window" min:"1KiB" flag:"max-window" for:"readers,check" arg:"window" bounds:"1,1TiB"`
}

// DefaultLimits returns the limits that apply unless others are configured.
func DefaultLimits() Limits {
	return Limits{MaxRatio: 1000, MaxWindow: 128 * MiB}
}
