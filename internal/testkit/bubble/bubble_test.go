package bubble

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestTimerChannels uses tickers that fire while other timers end a sleep. With
// synctest.Test, every second run of it crashes in the race detector on two
// processors.
func TestTimerChannels(t *testing.T) {
	for range 100 {
		Test(t, func(*testing.T) {
			var wg sync.WaitGroup
			for range 100 {
				wg.Go(func() {
					tick := time.NewTicker(time.Millisecond)
					defer tick.Stop()
					for range 50 {
						<-tick.C
						time.Sleep(time.Millisecond)
					}
				})
			}
			wg.Wait()
		})
	}
}

// TestNoOther checks that no other test of this module calls synctest.Test.
func TestNoOther(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if files++; bytes.Contains(text, []byte("synctest."+"Test(")) {
			t.Errorf("%s: use bubble.Test", path)
		}
		return err
	})
	if err != nil || files < 100 {
		t.Fatalf("%d files: %v", files, err)
	}
}
