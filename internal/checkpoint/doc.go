// Package checkpoint keeps the progress of all file sources of a process, and
// with it how long the outputs of its sinks are, so that a restart goes on where
// the records that are durable end.
//
// # On disk
//
// In the data directory lie
//
//	lock             held while a Store is open: one process at a time
//	checkpoint       the newest state
//	checkpoint.1     the one before it
//	checkpoint.bad   one that could not be read, kept for who wants to look at it
//	restart/ID       restart points of compressed inputs, which both states name
//
// A state is written aside, synced, renamed over checkpoint, and the folder is
// synced. So one rename is one commit for all lanes and all outputs, which is what
// exactly once needs. A restart point is written and synced before the state that
// names it, and removed when no state does any more.
//
// # Form
//
// A state is lines of JSON: the version first, then an entry or a mark each, and
// a checksum of all before it last:
//
//	{"urlfold":"checkpoint","version":1,"lines":2}
//	{"entry":{"source":"logs","id":"5f…","path":"/var/log/a.log",…}}
//	{"mark":{"sink":"out","path":"/data/a.log.zst","length":4096}}
//	{"xxh3":"0c4d…"}
//
// A text that is not UTF-8 (a path may be anything) is written as "base64:" and
// its bytes in base64. A state that is torn, empty, changed in any bit, longer
// than the limits or of another version is as good as none: the one before it is
// taken, and [Store.Warnings] says so. If that is bad, too, there is no progress,
// and everything is read from its beginning: twice, perhaps, but never not at all.
package checkpoint
