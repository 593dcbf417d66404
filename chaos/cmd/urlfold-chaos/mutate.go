package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/urlfold/urlfold/chaos"
)

var suites = []experiment{
	{
		name: "model", no: "29", about: "a lane compared with a list of everything that happened to it; a seeded simulation of runs, failing sinks, revocations and crashes; codecs that panic",
		bound: "the watermark is the longest resolved prefix of the epoch and never decreases; nothing is committed before it is durable everywhere; lost 0",
		run:   model,
	},
	{
		name: "mutate", no: "30", about: "a defect in each rule that prevents the loss of records, one at a time",
		bound: "the tests of the package fail with each defect, and pass without it",
		run:   mutate,
	},
}

func model(ctx context.Context, l *lab) error {
	seeds := l.times(60, 2000)
	tests := "^(TestLane|TestSim|TestPoison|TestCodecBroken)"
	out, err := l.goTest(ctx, ".", []string{fmt.Sprintf("URLFOLD_SIM_SEEDS=%d", seeds)}, "-count=1", "-v", "-run", tests, "./pipeline/engine")
	l.check(err == nil, "%v:\n%s", err, lastLines(out, 20))
	l.figure("simulated worlds", strings.Count(out, "--- PASS: TestSim/"))
	l.check(strings.Count(out, "--- PASS: TestSim/") == seeds, "want %d simulated worlds", seeds)
	l.check(strings.Contains(out, "--- PASS: TestLaneModel"), "the model of the lane did not run")
	return nil
}

// mutations are defects in the rules that the guarantees depend on. Short runs
// use only the first ones.
var mutations = []chaos.Mutation{
	{
		Name: "the file sink answers before fsync", File: "sinks/file/group.go",
		Old:     "\ts.files.syncAll(shares)\n\ts.mu.Lock()\n\tdurable := s.resolve(shares)\n\tvar failed []held\n",
		New:     "\ts.mu.Lock()\n\tdurable := s.resolve(shares)\n\ts.mu.Unlock()\n\tfor _, h := range durable {\n\t\th.ticket.Done(engine.Result{})\n\t}\n\ts.files.syncAll(shares)\n\tdurable = nil\n\ts.mu.Lock()\n\tvar failed []held\n",
		Package: "./sinks/file", Tests: "^(TestAnswersFollowSync|TestFaults|TestFull)$",
	},
	{
		Name: "a lane ignores the epoch: batches in flight at a revocation still move its watermark", File: "pipeline/engine/lane.go",
		Old: "\tl.epoch++\n\tl.complete = false\n\tl.base = l.next\n\tl.dirty = false\n", New: "\tl.complete = false\n",
		Package: "./pipeline/engine", Tests: "^TestLane",
	},
	{
		Name: "an abandoned batch counts as done", File: "pipeline/engine/lane.go",
		Old: "s.state = lost\n", New: "s.state = resolved\n",
		Package: "./pipeline/engine", Tests: "^TestLane",
	},
	{
		Name: "the watermark passes a gap", File: "pipeline/engine/lane.go",
		Old: " && l.at(l.base).state == resolved && ", New: " && (l.at(l.base).state == resolved || l.next-l.base > 3) && ",
		Package: "./pipeline/engine", Tests: "^TestLane",
	},
	{
		Name: "a batch that a sink asks for again counts as done", File: "pipeline/engine/ticket.go",
		Old: "\t\td.again(b, slot, failing)\n", New: "\t\td.endLeg(b, slot, false)\n",
		Package: "./pipeline/engine", Tests: "^TestSim$",
	},
	{
		Name: "records that a sink rejects get no dead letter", File: "pipeline/engine/release.go",
		Old: "if len(b.refused)+len(b.orphans) > 0 && p.o.DeadLetter != nil && ", New: "if len(b.refused)+len(b.orphans) > 1<<20 && p.o.DeadLetter != nil && ",
		Package: "./pipeline/engine", Tests: "^TestSim$",
	},
	{
		Name: "a rejection counts as done although it must block the lane", File: "pipeline/engine/refused.go",
		Old: "\t\td.block(b, s, slot, failed, r)\n", New: "\t\td.endLeg(b, slot, false)\n",
		Package: "./pipeline/engine", Tests: "^TestSim$",
	},
	{
		Name: "batches after a rejected record overtake it", File: "pipeline/engine/ticket.go",
		Old: "\t\tlower(&ordered.held, t.b.Seq) // withholds later batches from the sink\n", New: "",
		Package: "./pipeline/engine", Tests: "^TestSim$",
	},
	{
		Name: "after a partial rejection only the rejected records are retried", File: "pipeline/engine/refused.go",
		Old: "\trest := slices.Concat(failed, r.Untried)\n", New: "\trest := slices.Clone(failed)\n",
		Package: "./pipeline/engine", Tests: "^TestSim$",
	},
	{
		Name: "after a hard stop everything counts as durable", File: "pipeline/engine/release.go",
		Old: "durable := !b.lost.Load() && !p.stopped()", New: "durable := true",
		Package: "./pipeline/engine", Tests: "^TestHardStop$",
	},
	{
		Name: "batches are submitted in the order in which the workers finish them", File: "pipeline/engine/delivery.go",
		Old: "\t\tif d.ordering == OrderNone {\n\t\t\td.submit(b, slot)\n", New: "\t\tif d.ordering != OrderInput {\n\t\t\td.submit(b, slot)\n",
		Package: "./pipeline/engine", Tests: "^(TestSim|TestOrderPerLane)$",
	},
	{
		Name: "an output is not truncated to its extent", File: "sinks/file/recover.go",
		Old: "return o, errors.Join(cutFile(o.f, to), o.f.Sync())", New: "o.size = fi.Size()\n\treturn o, o.f.Sync()",
		Package: "./sinks/file", Tests: "^(TestResume|TestUncovered)",
	},
	{
		Name: "a commit stores keys whose first records are not durable yet", File: "pipeline/engine/decisions.go",
		Old: "\tc.keys = d.ready[:len(d.ready):len(d.ready)]\n", New: "\tfor k := range d.slots {\n\t\td.ready = append(d.ready, k)\n\t}\n\tc.keys = d.ready\n",
		Package: "./pipeline/engine", Tests: "^TestSimDedupe$",
	},
	{
		Name: "positions of lanes are stored one by one, with all keys", File: "pipeline/engine/cut.go",
		Old:     "\t\tif err := committer.CommitKeys(ctx, cut); err != nil {\n",
		New:     "\t\tif len(f.ups) > 0 {\n\t\t\tcut.Ups = f.ups[:1]\n\t\t}\n\t\tif err := committer.CommitKeys(ctx, cut); err != nil {\n",
		Package: "./pipeline/engine", Tests: "^TestSimDedupe$",
	},
	{
		Name: "a batch with duplicates does not wait for their first records", File: "pipeline/engine/decisions.go",
		Old: "\tif min(b.needs, b.number-1) > s.cut {\n\t\treturn false\n\t}\n", New: "",
		Package: "./pipeline/engine", Tests: "^TestSimDedupe$",
	},
	{
		Name: "the key of a refused record stays", File: "pipeline/engine/refused.go",
		Old: "\t\td.filtering.decisions.refuse(b, s, failed)\n", New: "",
		Package: "./pipeline/engine", Tests: "^TestSimDedupe$",
	},
	{
		Name: "duplicates of a refused record get no dead letter", File: "pipeline/engine/decisions.go",
		Old: "\ts.refused[first{k, no}] = s.last\n", New: "",
		Package: "./pipeline/engine", Tests: "^TestSimDedupe$",
	},
	{
		Name: "the keys of a revoked lane stay", File: "pipeline/engine/decisions.go",
		Old: "\t\t\tdelete(d.slots, f.Key) // no other", New: "\t\t\t_ = f // no other",
		Package: "./pipeline/engine", Tests: "^TestDedupeRevoke$",
	},
	{
		Name: "the keys of a revoked lane stay until they are stored", File: "pipeline/engine/decisions.go",
		Old: "\tfor _, f := range s.ready {\n\t\tdelete(d.slots, f.Key)\n\t}\n", New: "",
		Package: "./pipeline/engine", Tests: "^TestSimMembers$",
	},
	{
		Name: "the set of a revoked lane stays", File: "pipeline/engine/lane.go",
		Old: "\t\tl.decisions.lanes.Drop(l)\n", New: "",
		Package: "./pipeline/engine", Tests: "^TestSimMembers$",
	},
	{
		Name: "a position is stored although its keys are not", File: "pipeline/engine/lanekeys.go",
		Old: "\t\treturn d.lanes.Seal(ctx, c.up.Lane, c.firsts)\n", New: "\t\t_ = d.lanes.Seal(ctx, c.up.Lane, c.firsts)\n\t\treturn nil\n",
		Package: "./pipeline/engine", Tests: "^TestSimMembers$",
	},
	{
		Name: "the changelog gets keys whose first records are not durable yet", File: "pipeline/engine/decisions.go",
		Old:     "\t\t\te.firsts = append(e.firsts, FirstKey{k, b.firstAt(i), window})\n",
		New:     "\t\t\te.firsts = append(e.firsts, FirstKey{k, b.firstAt(i), window})\n\t\t\ts.ready = append(s.ready, FirstKey{k, b.firstAt(i), window})\n",
		Package: "./pipeline/engine", Tests: "^TestSimMembers$",
	},
	{
		Name: "a window is forgotten when a decision has passed it, before the cut has", File: "pipeline/engine/lanekeys.go",
		Old: "c.least = w.least(w.cut.low)", New: "c.least = w.least(w.now.low)",
		Package: "./pipeline/engine", Tests: "^TestSimMembersWindows$",
	},
	{
		Name: "a window is forgotten before the offset is committed", File: "pipeline/engine/lanekeys.go",
		Old:     "\terrs = append(errs, d.storePositions(ctx, f, cuts))\n",
		New:     "\terrs = append(errs, d.forget(ctx, cuts)...)\n\terrs = append(errs, d.storePositions(ctx, f, cuts))\n",
		Package: "./pipeline/engine", Tests: "^TestSimMembersWindows$",
	},
	{
		Name: "a member forgets windows although its commit was refused", File: "pipeline/engine/lanekeys.go",
		Old: " || c.up.Refused {", New: " {",
		Package: "./pipeline/engine", Tests: "^(TestForgetStored|TestSimMembersWindows)$",
	},
	{
		Name: "an offset is committed with the times of records after it", File: "pipeline/engine/window.go",
		Old: "state, err := w.cut.store()", New: "state, err := w.now.store()",
		Package: "./pipeline/engine", Tests: "^TestSimMembersWindows$",
	},
	{
		Name: "the next owner of a partition does not know how far its times have come", File: "sources/kafka/log.go",
		Old: "\treturn log, note\n", New: "\treturn log, note[:0]\n",
		Package: "./sources/kafka", Tests: "^TestNotes$",
	},
	{
		Name: "claims expire", File: "internal/storage/unique/claims.go",
		Old: "c.put(ctx, key, mine, last, 0)", New: "c.put(ctx, key, mine, last, c.o.Remember)",
		Package: "./internal/storage/unique", Tests: "^TestSimClaimsWindows$",
	},
	{
		Name: "keys of a bucket are the same in all windows", File: "pipeline/engine/claims.go",
		Old: "*k = inWindow(*k, window)", New: "_ = window",
		Package: "./internal/storage/unique", Tests: "^TestSimClaimsWindows$",
	},
	{
		Name: "keys of records that are read again are loaded", File: "internal/storage/unique/changelog/load.go",
		Old: "\t\tcase f.At >= ld.before:\n", New: "\t\tcase f.At < 0:\n",
		Package: "./internal/storage/unique/changelog", Tests: "^TestLoad$",
	},
	{
		Name: "a rebalance commits offsets without their keys", File: "sources/kafka/member.go",
		Old: "\t\tif p.lane.KeepsKeys() {\n\t\t\tp.lane.AwaitCommit(ctx)\n\t\t} else if", New: "\t\tif",
		Package: "./sources/kafka", Tests: "^TestKeysRebalance$",
	},
	{
		Name: "records without a key are duplicates of each other", File: "pipeline/engine/decisions.go",
		Old: "\tif *id == (codec.Key{}) {\n\t\td.noKey++\n\t\treturn nil\n\t}\n", New: "",
		Package: "./pipeline/engine", Tests: "^TestSimDedupe$",
	},
	{
		Name: "the last commit stores keys beyond the cut", File: "pipeline/engine/decisions.go",
		Old: "\tdue()\n", New: "\tdue()\n\tif State(d.state.Load()) == Committing {\n\t\tfor k := range d.slots {\n\t\t\td.ready = append(d.ready, k)\n\t\t}\n\t}\n",
		Package: "./pipeline/engine", Tests: "^TestSimDedupe$",
	},
	{
		Name: "records are decided about while a cut is taken", File: "pipeline/engine/decisions.go",
		Old: "\tif d.paused || full {\n", New: "\tif full {\n",
		Package: "./pipeline/engine", Tests: "^(TestSimDedupe|TestDedupePause)$",
	},
	{
		Name: "a sink that refuses a marked duplicate makes its key forgotten", File: "pipeline/engine/decisions.go",
		Old: "\tb.Out.IDs[i] = codec.Key{}\n", New: "",
		Package: "./pipeline/engine", Tests: "^(TestSimMark|TestMarkRefused)$",
	},
	{
		Name: "a record is marked although another process may write the first of its key", File: "pipeline/engine/claims.go",
		Old: "\t\t\tb.keep.Drop(l.rec)\n\t\t\tc.delay(b, l.msg)\n\t\t\treturn true\n", New: "\t\t\tb.mark(l.rec)\n\t\t\treturn true\n",
		Package: "./internal/storage/unique", Tests: "^TestSimClaimsMark$",
	},
	{
		Name: "a record is marked before the answer to the claim of its key", File: "pipeline/engine/claims.go",
		Old: "\tif slices.ContainsFunc(b.leans, func(l lean) bool { return l.on.state == claimAsked }) {\n\t\treturn false\n\t}\n", New: "",
		Package: "./internal/storage/unique", Tests: "^TestSimClaimsMark$",
	},
	{
		Name: "a record that is delivered again is a duplicate of itself", File: "pipeline/engine/claims.go",
		Old: "case cl.Answer == ClaimDone && c.marks && cl.First != cl.Origin:", New: "case cl.Answer == ClaimDone && c.marks:",
		Package: "./internal/storage/unique", Tests: "^TestSimClaimsMark$",
	},
	{
		Name: "a record that holds its key is delayed because of another one in front of it", File: "pipeline/engine/claims.go",
		Old: "\t\tif l.on.state != claimGone || l.on.Answer", New: "\t\tif len(list) == 0 || l.on.Answer",
		Package: "./internal/storage/unique", Tests: "^TestClaimHolderBehind$",
	},
	{
		Name: "a message is acknowledged before its keys are done", File: "pipeline/engine/claims.go",
		Old: "\t\tc.settled(b, c.outside.Settle(c.hard, b.claims))\n", New: "\t\tlist := slices.Clone(b.claims)\n\t\tc.settled(b, nil)\n\t\t_ = c.outside.Settle(c.hard, list)\n",
		Package: "./internal/storage/unique", Tests: "^(TestSimClaims|TestAckAfterDone)$",
	},
	{
		Name: "the set of keys stays when positions are reset", File: "internal/storage/checkpoint/inspect.go",
		Old: "\t\tc.keys = new(\"\") // records that are read again", New: "\t\t_ = c.keys // records that are read again",
		Package: "./internal/storage/checkpoint", Tests: "^TestKeys$",
	},
	{
		Name: "a state names keys that are not synced", File: "internal/storage/keyset/journal.go",
		Old: "\tif err := j.log.Sync(); err != nil {\n", New: "\tif err := error(nil); err != nil {\n",
		Package: "./internal/storage/keyset", Tests: "^TestJournal$",
	},
	{
		Name: "keys are written again where a sync has failed", File: "internal/storage/keyset/journal.go",
		Old: "errors.Join(err, j.endLog()))\n", New: "err)\n",
		Package: "./internal/storage/keyset", Tests: "^TestJournal$",
	},
	{
		Name: "keys that a failed commit may have stored are written again", File: "internal/storage/keyset/journal.go",
		Old: "\tfresh := keys[len(j.pending):]\n", New: "\tfresh := keys\n\tinfo.Bytes -= min(info.Bytes, int64(size*len(j.pending)))\n\tj.pending = j.pending[:0]\n",
		Package: "./internal/storage/keyset", Tests: "^TestJournal$",
	},
	{
		Name: "files are removed that an older state names", File: "internal/storage/keyset/journal.go",
		Old: "\t\tif f.since+2 > generation || ", New: "\t\tif ",
		Package: "./internal/storage/keyset", Tests: "^TestJournal$",
	},
	{
		Name: "a checksum is reset at a restart point", File: "internal/storage/compress/gzip_points.go",
		Old: "p.deflate, p.size, p.crc\n", New: "p.deflate, p.size, 0\n",
		Package: "./internal/storage/compress", Tests: "^TestResumeGzip$",
	},
	{
		Name: "--limit emits the records of a batch after the limit", File: "sources/file/pick.go",
		Old: "\tb.In = b.In[:n]\n", New: "",
		Package: "./internal/app/cli", Tests: "^TestScript$/^case_limit$",
	},
	{
		Name: "--sample gives all records the same number", File: "sources/file/pick.go",
		Old: "\t\t\tp.number++\n", New: "",
		Package: "./internal/app/cli", Tests: "^TestScript$/^case_limit$",
	},
	{
		Name: "damage behind a member of a compressed tar archive is not found", File: "sources/file/archive.go",
		Old: "\t\t_, _ = io.Copy(io.Discard, onlyRead{r.zr}) // the verdict reports an error\n", New: "",
		Package: "./internal/app/cli", Tests: "^TestScript$/^case_members$",
	},
}

func mutate(ctx context.Context, l *lab) error {
	n := l.times(3, len(mutations))
	sound := map[string]bool{}
	caught := 0
	for i := range mutations[:n] {
		m := &mutations[i]
		if key := m.Package + m.Tests; !sound[key] {
			sound[key] = true
			out, err := l.goTest(ctx, ".", nil, "-short", "-run", m.Tests, m.Package)
			if !l.check(err == nil && !strings.Contains(out, "no tests to run"), "%s: tests fail without a defect: %v\n%s", m.Package, err, lastLines(out, 20)) {
				continue
			}
		}
		overlay, err := m.Overlay(l.shared.root, l.path(fmt.Sprint(i)))
		if err != nil {
			return err
		}
		out, err := l.goTest(ctx, ".", nil, "-short", "-overlay", overlay, "-run", m.Tests, m.Package)
		if err == nil { // a simulation with few seeds can miss a defect that needs an order of goroutines
			out, err = l.goTest(ctx, ".", nil, "-overlay", overlay, "-run", m.Tests, m.Package)
		}
		var exit *exec.ExitError
		switch {
		case err == nil:
			l.check(false, "%s: no test of %s fails", m.Name, m.Package)
		case !errors.As(err, &exit) || strings.Contains(out, "build failed"):
			return fmt.Errorf("%s: %w\n%s", m.Name, err, lastLines(out, 20))
		default:
			caught++
			l.did("%s: %s", m.Name, failedTests(out))
		}
	}
	l.figure("defects detected by tests", fmt.Sprintf("%d of %d", caught, n))
	return nil
}

// failedTests returns the names of the failed tests in the output of go test.
func failedTests(out string) string {
	var names []string
	for line := range strings.Lines(out) {
		if name, ok := strings.CutPrefix(line, "--- FAIL: "); ok {
			names = append(names, strings.Fields(name)[0])
		}
	}
	if len(names) == 0 {
		return "the test run was aborted: " + lastLines(out, 1)
	}
	return strings.Join(names, ", ")
}
