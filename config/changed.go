package config

import "os"

// A stamp identifies a version of a file. The zero stamp means that the file could not be
// read.
type stamp struct {
	mtime int64 // nanoseconds since the Unix epoch
	size  int64
}

func stampOf(name string) stamp {
	fi, err := os.Stat(name)
	if err != nil {
		return stamp{}
	}
	return stamp{fi.ModTime().UnixNano(), fi.Size()}
}

// Changed reports whether a file that f was loaded from has changed since then, or since the
// last call: the configuration, its profiles and lists, and the files of ${file:PATH}. A file
// that does not exist has not changed yet, since most programs replace files. Only one
// goroutine at a time may call Changed. Not covered by the stability page.
func (f *File) Changed() bool {
	changed := false
	for name, old := range f.stamps {
		if now := stampOf(name); now != old && now != (stamp{}) {
			f.stamps[name] = now
			changed = true
		}
	}
	return changed
}

// stamping returns env with functions that enter the version of each file in
// stamps, before they read the file.
func stamping(env Env, stamps map[string]stamp) Env {
	wrap := func(read func(string) ([]byte, error)) func(string) ([]byte, error) {
		if read == nil {
			return nil
		}
		return func(name string) ([]byte, error) {
			stamps[name] = stampOf(name)
			return read(name)
		}
	}
	env.ReadFile, env.ReadValue = wrap(env.ReadFile), wrap(env.ReadValue)
	return env
}
