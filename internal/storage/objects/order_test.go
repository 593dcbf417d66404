package objects_test

import (
	"context"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/storage/objects"
)

// A shelf is a client of a store whose objects appear at simulated times.
type shelf struct {
	objects.Client
	now      time.Duration            // since the simulation began
	made     map[string]time.Duration // when each object appeared, by key
	requests int
}

// List implements [objects.Client]. A request returns up to 1,000 objects.
func (s *shelf) List(_ context.Context, bucket, prefix, after string) iter.Seq2[objects.Object, error] {
	var keys []string
	for key := range s.made {
		if strings.HasPrefix(key, prefix) && key > after {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return func(yield func(objects.Object, error) bool) {
		s.requests++
		for i, key := range keys {
			if i > 0 && i%1000 == 0 {
				s.requests++
			}
			if !yield(objects.Object{Bucket: bucket, Key: key, Size: 1, Modified: time.Now().Add(s.made[key] - s.now)}, nil) {
				return
			}
		}
	}
}

// TestOrder: objects appear in random order within the look-back, in series that
// begin at different times. Each listing returns the new ones, and takes a few
// requests for each series. A listing with a new Order returns those that appear
// too late.
func TestOrder(t *testing.T) {
	const lookBack = 3 * time.Hour
	series := []struct{ text, layout, rest string }{
		{"logs/AWSLogs/333322221111/elb/eu-west-1/", "2006/01/02", "/z_20060102T1504Z.log.gz"},
		{"logs/AWSLogs/111122223333/elb/us-east-2/", "2006/01/02", "/a_20060102T1504Z.log.gz"},
		{"logs/EDFDVBD6EXAMPLE.", "2006-01-02-15.04", ".gz"},
		{"logs/s3/", "2006-01-02-15-04", "-HASH"},
		{"logs/hive/year=", "2006/month=01/day=02/1504", ".parquet"},
		{"logs/", "20060102/1504", ".log"},
		{"logs/undated/", "", "150405"},
	}
	rng, begin := rand.New(rand.NewPCG(41, 2)), time.Date(2025, 12, 1, 0, 0, 0, 0, time.UTC)
	s := &shelf{made: map[string]time.Duration{}}
	store, order, seen := objects.NewStore(s), objects.NewOrder(lookBack), map[string]bool{}
	list := func(order *objects.Order) (requests int) {
		t.Helper()
		before := s.requests
		if _, err := store.Find(t.Context(), "s3://bucket/logs/", order, func(f objects.Found) { seen[f.Key] = true }); err != nil {
			t.Fatal(err)
		}
		return s.requests - before
	}
	var waiting []string // objects to appear
	late := map[string]time.Duration{}
	for minute := range 15 * 24 * 60 {
		s.now = time.Duration(minute) * time.Minute
		for i, at := range series {
			if minute < i*3*24*60/2 || minute%5 != i%5 {
				continue
			}
			key := at.text + begin.Add(s.now).Format(at.layout+at.rest)
			late[key] = s.now + time.Duration(rng.Int64N(int64(lookBack)*9/10)).Truncate(time.Minute)
			waiting = append(waiting, key)
		}
		waiting = slices.DeleteFunc(waiting, func(key string) bool {
			if late[key] > s.now {
				return false
			}
			s.made[key] = s.now
			return true
		})
		if minute%(12*60) > 0 {
			continue
		}
		requests := list(order)
		if len(seen) != len(s.made) {
			t.Fatalf("minute %d: %d objects found of %d", minute, len(seen), len(s.made))
		}
		if most := 2*len(series) + 4; requests > most {
			t.Fatalf("minute %d: %d requests, want at most %d", minute, requests, most)
		}
	}
	s.made["logs/s3/2025-12-07-12-01-HASH"] = s.now
	if list(order); len(seen) == len(s.made) {
		t.Error("a listing did not skip the old objects")
	}
	whole := list(objects.NewOrder(lookBack))
	if len(seen) != len(s.made) {
		t.Errorf("%d objects found of %d", len(seen), len(s.made))
	}
	t.Logf("%d objects: %d requests for all, %d in order", len(s.made), whole, list(order))
}
