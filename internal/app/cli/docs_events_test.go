package cli

// advice says for each log event what it means and what to do, in the Markdown of
// docs/reference/log-events.md. TestDocs fails if an event has no advice, or if
// advice is for an event that no code logs.
var advice = map[string]string{
	// internal/app/cli
	"number of parallel inputs reduced to fit the descriptor limit": "urlfold reads fewer inputs in parallel than `--workers` asks for. Raise the limit with `ulimit -n`, or lower `--workers`.",

	// internal/client/nats
	"bucket recreated, its keys are lost": "The bucket with the dedupe keys was deleted while urlfold was running, and urlfold created it again. No record is lost, but the output can contain each page once more. Find out which program deleted the bucket.",
	"bucket unusable":                     "The settings of the bucket with the dedupe keys were changed while urlfold was running, so the bucket may now forget claims. Do what `error` says; until then, the instance is not ready.",
	"bucket usable again":                 "The bucket with the dedupe keys has its former settings again. Nothing to do.",
	"NATS connection lost, reconnecting":  "The server or the network is down. Nothing is lost with JetStream; with core NATS, messages published in the meantime are lost. If the error persists, check the server.",
	"cannot connect, retrying":            "No NATS server can be reached at the start; urlfold tries again until `connect_timeout` has passed. `error` names the servers and the remedy.",
	"NATS connection restored":            "Reading and publishing continue. Nothing to do.",
	"messages dropped, slow consumer":     "Core NATS delivered messages faster than urlfold could process them, so the client dropped `lost_messages`. Raise `pending`, add members to the `queue` group, or use JetStream.",
	"write failed, retrying":              "The brokers or servers do not accept records; the sink keeps them and tries again. If the error persists, look at `error` and at the server. Common causes are a server that is down and missing permissions; in Kafka, a missing topic; in NATS, a full stream or a subject without responders.",
	"write recovered":                     "The server accepts records again. Nothing to do.",
	"schema registry failed, retrying":    "The registry cannot be reached, or does not answer as specified; messages with unknown schemas wait. If the error persists, look at `error`, at the registry and at `codec.registry`.",
	"schema registry recovered":           "The registry answers again. Nothing to do.",
	"read failed, retrying":               "Messages could not be fetched. If the error persists, look at `error` and at the server. In Kafka, `where` names the partition or the consumer group.",
	"read recovered":                      "urlfold can fetch messages again. Nothing to do.",
	"server refused a request":            "The server answered with an error, usually because the user lacks permissions for a subject. Correct the permissions of the user.",
	"suboptimal NATS settings":            "The run works, but a setting of the stream or the consumer can reduce throughput or cause duplicates. Change the setting that `error` names.",

	// internal/app/daemon
	"keys of dedupe available":                                     "The servers that hold the dedupe keys answer, and the run begins. Nothing to do.",
	"keys of dedupe unavailable, waiting":                          "At the start, the servers that hold `dedupe.bucket` or `dedupe.changelog` do not answer. The instance waits and is not ready. If the error persists, look at `error`.",
	"checkpoint damaged":                                           "Part of the stored state cannot be used; `error` says which records are read again. Check the disk: see [The checkpoint is damaged](../recovery.md#the-checkpoint-is-damaged).",
	"configuration rejected, keeping the previous one":             "A reload failed, and the previous configuration is still in force. Correct the mistake in `error`, check with `urlfold check -c`, and send SIGHUP again.",
	"configuration reloaded":                                       "A reload succeeded; `effect` says what it changed. Nothing to do.",
	"configuration warning":                                        "The configuration is valid, but `error` names a setting that is probably a mistake, such as `$NAME` without braces or a password in the file. `urlfold check -c FILE` prints the same warning.",
	"records dropped":                                              "Records were rejected for `reason`, and are in no output: `on_error` drops them, or their output format has nothing to write for them. Each event counts the records of 10 s; the sum of all `lost_records` equals `urlfold_discarded_records_total`. Configure a `dead_letter` to keep them.",
	"default admin address is taken, running without admin server": "Another process, such as a daemon on the same machine, uses the address. Set `admin.listen` to another address, or to an empty string.",
	"ready":                              "All checks of `/readyz` pass. Nothing to do.",
	"not ready":                          "A check of `/readyz` fails; `error` names the first failing check. See [Recovery](../recovery.md).",
	"exiting":                            "The last line with `log.format: json`. It says why the process exits, and gives its [exit code](exit-codes.md). With text logs, a message on stderr says the same.",
	"file finished":                      "The whole file was read; `verdict` is the result of its checksums. At level ERROR, the file is damaged, as `detail` says; `lost_bytes` is the length of an incomplete last record, and `verified_lines` and `unverified_lines` count lines: see [Damaged files](../damaged-files.md).",
	"file known to be damaged":           "An earlier run found the damage and read everything that can be read. Replace the file with an intact copy, or remove it.",
	"input not read to the end":          "The run stopped in the middle of this input. The next run continues at the same position.",
	"shadow compared":                    "The pipeline has ended. The shadow profile has merged `merges` groups of URLs and split `splits` groups. The numbers cover one key in `one_in`, chosen by hash. Nothing to do.",
	"tap opened":                         "A client reads samples of the records at /tap, with the filter `query`. Nothing to do.",
	"tap closed":                         "A client of /tap has gone. `examined` records were read for it, and `dropped` samples were not sent because the client was too slow. Nothing to do.",
	"listening":                          "The admin server accepts connections at `admin`. Nothing to do.",
	"keys take most of the memory limit": "With `dedupe`, the tables and filters of the set of keys take `keys_bytes` of memory, which leaves less than a quarter of `memory_limit` for the rest. The process may need more memory than the limit, and collects garbage more often. urlfold logs the event once for each pipeline. Raise `memory_limit` to at least `needed_bytes`, or set `dedupe.window`, so that urlfold forgets old keys.",
	"memory limit too low":               "The batches and buffers of this configuration need more than `memory_limit`. Raise the limit, or lower the settings that `error` names.",
	"quoted cell does not end, reading on with the next line":       "A line of a table has a quoted cell that exceeds `max_quoted`, or that is still open at the end of the file: `line` and `offset` say where. urlfold may read the rest of that line wrongly, and reads the following lines as rows. It logs the event once for each file; when the file is finished, the verdict of the file has the number of such lines. Repair the line, raise `max_quoted` if the cell is meant to be so long, or set `quote: none` for the source.",
	"set of keys reset, because the configuration has changed":      "`dedupe` begins with an empty set of keys, so each page that was written before can be written once more; `changes` lists the differences. The old keys stay in the bucket or changelog, if there is one, for instances that still use the old configuration. For files, set `dedupe.on_change: refuse` if a reload must not empty the set.",
	"new configuration failed to start, restoring the previous one": "A source or a sink of the new configuration could not be opened. Correct the problem in `error`, and send SIGHUP again.",
	"open files reduced to fit the descriptor limit":                "The source keeps fewer files open than `max_open_files`. Raise the limit of the process: `LimitNOFILE=` in systemd, `ulimit -n` in a shell.",
	"orphaned output finished":                                      "An output of a sink that is no longer configured got its final name. Nothing to do.",
	"orphaned output left unfinished":                               "An output of a sink that is no longer configured keeps its `.part` name. Fix the problem in `error`, and restart urlfold.",
	"unfinished output renamed, exactly_once enabled":               "An output was still unfinished when `exactly_once` was switched on. It now has its final name; the sink continues in another file. Nothing to do.",
	"pipeline replaced before everything was durable":               "A reload stopped waiting for a blocked or failing sink. The new pipeline rereads the records that `error` counts.",
	"starting":                          "The pipeline of the configuration `config` has started and opens its sinks and sources; `/readyz` names the sink or source for which it waits. Nothing to do.",
	"sd_notify failed":                  "urlfold could not notify systemd of its readiness or of a reload; systemd may kill the service. Check `NOTIFY_SOCKET` and `NotifyAccess=`.",
	"stdout closed by reader, stopping": "The program that reads stdout has ended, as `head` does. If the source can send records again (stdin and core NATS cannot), the next run rereads the records that the pipe did not accept. Data that was still in the pipe is lost.",
	"stopped":                           "The pipeline has ended; the attributes count its records. If `abandoned` or `unresolved` is not 0, the next run reads these records again.",
	"systemd watchdog disabled":         "`WATCHDOG_USEC` could not be read, so urlfold sends no watchdog notifications. Correct `WatchdogSec=` in the unit.",

	// internal/storage/unique/changelog
	"changelog of dedupe created": "The topic for the dedupe keys did not exist, so urlfold created a compacted topic. Nothing to do.",
	"keys of dedupe loaded":       "The instance got a partition, and has read `keys` keys, up to `offset`, from `dedupe.changelog`. It ignored the keys of records that it reads again (`ahead`) and the keys of other configurations (`other`). Nothing to do.",

	// internal/observe
	"metrics scrape incomplete":        "A scrape of `/metrics` failed, or the client ended it early. If this repeats, raise `scrape_timeout` in Prometheus.",
	"not alive, watchdog not notified": "The process no longer makes progress, and systemd will restart it. Nothing is lost. If it repeats, save `/debug/pprof/goroutine?debug=2` and report it.",
	"watchdog notification failed":     "systemd did not receive a watchdog notification, and may restart the service. Check `NOTIFY_SOCKET`.",
	"admin request refused":            "A request named a host that is not allowed, which can be an attack through a browser. If the host is yours, add it to `admin.allowed_hosts`.",
	"admin server failed":              "`/metrics`, `/readyz` and the status page are unavailable; records still flow. Restart the process when convenient.",
	"status page failed":               "The status page could not be written. This is a bug: please report it, including `error`.",

	// internal/storage/checkpoint
	"checkpoint compaction failed, retrying":               "The commit log keeps growing until a snapshot succeeds; positions are still stored. Free space on the disk that holds `dir`, or check its permissions.",
	"checkpoint file missing or changed, writing it again": "Another program changed `data_dir` while urlfold was running. Nothing is lost. Find out which program made the change: see [The checkpoint is removed while urlfold runs](../recovery.md#the-checkpoint-is-removed-while-urlfold-runs).",

	// internal/storage/objects
	"acknowledgment failed, message will be delivered again": "All records of the objects that a message names are durable, but the queue did not confirm the acknowledgment. Nothing to do: when the queue delivers the message again, the checkpoint shows that nothing is left to read.",
	"object became a dead letter":                            "An object is damaged or cannot be read, or a message names no object. The dead letter contains the reference to the object, with `verdict`. Look at `detail`; when the cause is gone, publish the reference again: see [Read the objects that a queue names](../how-to/object-queue.md#objects-that-cannot-be-read).",
	"object request failed, retrying":                        "An object store has refused a request, or has not answered it, several times. After two minutes without progress, the input or output fails. If the error persists, look at `error`: throttling, expired credentials, a network that is down.",

	// pipeline
	"batch not accepted, retrying":                   "A sink had a temporary error; urlfold sends it the batch again. If the error persists, `/readyz` names the sink: see [A lane is stuck](../recovery.md#a-lane-is-stuck).",
	"codec panic, record rejected":                   "A record triggered a bug in urlfold and was rejected. Please report the bug, including `stack`: see [A poison message](../recovery.md#a-poison-message).",
	"commit failed, retrying":                        "Positions were not stored. If the process dies now, more records will be duplicated. Look at `error`: the cause is the disk of `data_dir` or the group coordinator.",
	"dead letters refused for their size, truncated": "The sink of the dead letters cannot hold records of this size. The dead letters contain the beginning of their records: see [Dead letters](dead-letters.md). Raise the limit of the sink to twice the limit of the source.",
	"final commit failed, retrying":                  "The process delays its exit by up to `shutdown_timeout` to store the last positions. If it cannot store them, records since the last commit will be duplicated.",
	"records refused, dropped":                       "A sink refused records permanently, and `on_error.refused: drop` discarded them. Configure a `dead_letter` if you want to keep them: see [A sink refuses records](../recovery.md#a-sink-refuses-records).",
	"records refused, lane blocked":                  "A sink refuses a record permanently, and its lane waits. Repair the broker, or configure a `dead_letter`: see [A sink refuses records](../recovery.md#a-sink-refuses-records).",
	"records refused, written to the dead letter":    "A sink refused records permanently; `code` is the reason that the broker gave. Look at the dead letters. If the records are too large, raise the size limit of the broker; otherwise correct the records.",
	"refused records accepted, lanes resumed":        "The broker now accepts the records. Nothing to do.",
	"run failed":                         "The run ends with `error` and exit code 1 or 2; positions up to this point are stored. See [Exit codes](exit-codes.md).",
	"stopped before everything was open": "A signal or a reload arrived while urlfold was waiting for a sink or a source to open; `error` names the sink or source. Nothing was read.",

	// internal/storage/unique
	"bucket of dedupe available again":       "urlfold can claim keys again. Nothing to do.",
	"bucket of dedupe unavailable, retrying": "urlfold cannot claim keys, so records wait. If the error persists, check the server: the bucket may be full, a permission may be missing, or the cluster may have no quorum.",

	// sinks/file
	"checkpointed output missing, treated as finished":              "An output in the checkpoint no longer exists, so urlfold assumes that it was moved. If you did not move it, its records are lost: see [Reading again](../recovery.md#reading-again).",
	"output compression changed, finishing old output":              "The compression of the output on disk differs from the configuration. urlfold gives the output its final name and begins another. Nothing to do.",
	"output damaged, continuing with its intact part":               "An output does not end as urlfold left it. The damaged original is kept at `kept`. Check the disk, and find out which program wrote to the file.",
	"output deleted or moved before its final rename":               "Something removed a `.part` file that urlfold was writing. Its acknowledged records are not written again: see [An output was deleted or moved](../recovery.md#an-output-was-deleted-or-moved).",
	"output deleted or moved, continuing in another file":           "Expected if `logrotate` has rotated the output. Otherwise, find out which program moved it: see [An output was deleted or moved](../recovery.md#an-output-was-deleted-or-moved).",
	"output permissions not narrowed":                               "The output may be readable by more users than its inputs, because the file system refused the change. Use a file system that supports permissions, or set `permissions`.",
	"upload of finished output failed, retrying":                    "The store refuses requests or does not answer. Nothing is lost: finished outputs wait in the folder `spool` of the sink, which needs room for them. See [Buckets](../how-to/buckets.md#write-to-a-bucket-continuously).",
	"bucket not available, retrying":                                "The store did not answer at the start. The run goes on, and uploads its outputs when the store answers.",
	"object exists, storing the output under another key":           "Another program, or a run with another `data_dir`, has written an object with this key. urlfold does not change this object. Let each instance write its own keys.",
	"output write failed, retrying":                                 "The usual cause is a full disk. Free some space; nothing is lost in the meantime: see [The disk is full](../recovery.md#the-disk-is-full).",
	"output write recovered":                                        "The sink writes again. Nothing to do.",
	"truncating output to its checkpoint":                           "After a crash, urlfold cuts off the records after the last commit and writes them again, as `exactly_once` requires. Nothing to do.",
	"too many outputs, writing the records of further hosts to one": "`--output` with `{vhost}` or `{site}` needs more outputs than urlfold keeps open. The output `path` gets the records of all remaining hosts. Nothing to do.",
	"truncating output to its verified records":                     "An input turned out to be damaged, and urlfold removes its unverified records from the output. Nothing to do; `file finished` has the verdict.",
	"truncating torn output of a lost checkpoint":                   "The checkpoint was damaged, so urlfold does not know how much of this output the checkpoint covered. urlfold cuts off an incomplete last record, and rewrites the records of all inputs that still exist into a different file. Compare both outputs before you remove this one.",
	"output exists, continuing under another name":                  "With exactly_once, the checkpoint does not cover the output path: the checkpoint was lost, or another program wrote the file. The file is unchanged, and may end within a record. Compare `path` with `as` before you remove `path`.",
	"truncating torn output":                                        "After a crash, urlfold cuts off an incomplete last record, or the data after the last sync of a compressed member, and writes it again. Nothing to do.",

	// sinks/kafka
	"part of the topic after the checkpoint is gone, records may be written twice": "With `exactly_once`: messages that urlfold has written after its checkpoint no longer exist, because of the retention of the topic or because the topic was deleted. urlfold cannot know their records, and writes them again.",
	"records after the checkpoint found in the topic, not writing them again":      "With `exactly_once`: after a crash, urlfold has read back what it had written after its last checkpoint. Nothing to do.",
	"batch_size exceeds the topic limit, larger batches are split":                 "Splitting requires additional requests. Lower `batch_size` to the limit, or raise `max.message.bytes` of the topic.",
	"cannot read topic limits":                                     "The user is not allowed to describe the topic, so urlfold splits a batch only after the broker refuses it. Grant DESCRIBE_CONFIGS if that happens often.",
	"idempotent writes not allowed, retries may duplicate records": "The user is not allowed to write idempotently, or the broker is too old. Grant IDEMPOTENT_WRITE on the cluster.",

	// sources/file
	"index not used":               "With `--index`: urlfold reads the input without its index; `error` gives the reason. The output is correct. If the index is out of date and another program wrote it, remove it.",
	"index not written":            "With `--index`: the index could not be written. The output is correct. Look at `error`: the folder of the index must be writable.",
	"index written":                "With `--index`: the next run on this input can use the index. Nothing to do.",
	"cannot access file or folder": "A file or folder that `include` matches cannot be examined. urlfold retries at each poll. Correct its permissions.",
	"cannot read file":             "A file that `include` matches cannot be opened or read. urlfold retries at each poll. Correct its permissions, or check the disk.",
	"cannot store start positions": "If the process dies before the next commit, the next run starts at the new end of each file, and skips everything written in the meantime. Check the disk of `data_dir`.",
	"compressed file has no checksums, its records are unverified": "The format of this file cannot show damage, so with `on_damage: quarantine` all of its records count as unverified. Compress with checksums, for example `zstd --check`.",
	"file content verified":                                                   "urlfold compared a large file with the text that it had already read, and both are equal. Nothing to do.",
	"file recognized by its content, reading resumed":                         "The file is a renamed, copied or compressed version of the file in `was`. urlfold continues where it stopped reading the file in `was`. Nothing to do.",
	"file contains the text of a removed file, reading from the beginning":    "The file holds all text of the file in `was`, which disappeared while urlfold was not running. The name of the file is not what a rotation makes of the name in `was`, so urlfold reads the file as new. If the file is a copy, its records are duplicated. Otherwise nothing to do.",
	"file replaced between runs, common beginning counts as read":             "While urlfold was not running, another file with the same name took the place of a known file and begins with all text of that file. If it is a separate file, for example a new dump with the same text, records are missing: give each dump its own name, and reset the checkpoint (`urlfold daemon reset`) to read this file.",
	"file resembles a known file but differs, reading from the beginning":     "The file begins and ends like a known file, but differs in between. If it is a rewritten copy, its unchanged records will be duplicated.",
	"file removed or truncated before it was read to the end":                 "No copy of the file was found within `rotate_wait`, so `lost_bytes` of it are lost. Let urlfold keep up (see [Performance](../performance.md)), keep rotated files for longer, and rotate by renaming.",
	"file truncated or overwritten, reading from the beginning":               "`copytruncate` does this at each rotation. Text that was written since the last poll and the `unread_bytes` are lost unless urlfold finds a copy. Rotate by renaming instead.",
	"no files match the include patterns":                                     "The source waits for files (`mode: tail` or `allow_empty`), or all matching files belong to other shards. Check `include` and the permissions of its folders.",
	"out of descriptors or memory, retrying":                                  "The system has run out of descriptors or memory for now; the source closed `files_closed` idle files and continues. Raise `LimitNOFILE=` or add memory to the machine, or lower `max_open_files`.",
	"quarantined file no longer damaged, reading continues":                   "The file was replaced by an intact copy with the same beginning. Nothing to do.",
	"restart point does not match the file, decompressing from the beginning": "The compressed file was rewritten. Startup takes longer; no record is duplicated.",
	"restart point unusable, decompressing from the beginning":                "The stored decoder state cannot be read. Startup takes longer; no record is duplicated. If it repeats, check the disk of `data_dir`.",
	"verifying file content":                                                  "urlfold compares a large file with the text that it has already read. This can take minutes. Nothing to do.",

	// sources/kafka
	"kafka commit refused after the end of its generation, records will be read again": "The group rebalanced before a commit; the next owner of the partitions rereads the records since the last commit. If it repeats, raise `session_timeout`.",
	"kafka final commit failed, records will be read again":                            "The group rebalanced, or the instance left it, and the last positions could not be stored. Records since the last commit will be duplicated. Look at `error`.",
	"kafka generation started": "This instance is a member of the group and reads `partitions`. Nothing to do.",
	"kafka log ends before the position, restarting at the configured start": "The log is shorter than the committed offset, and urlfold cannot find out why. For example, the offset was set by hand, or the brokers have no topic ids. urlfold goes back to the configured `start`, which is the offset `to`: records may be lost or duplicated.",
	"kafka log truncated, records already read were removed from it":         "A replica that lagged became leader, so the records from `from` to `to` were lost in Kafka. urlfold had read them; the sinks have them. Reading goes back to `from`, where the leader has written other records. Avoid `unclean.leader.election.enable`.",
	"kafka topic recreated, its offsets restart":                             "The topic was deleted and created again: its old id is `before`, its new id is `id`. urlfold reads the new topic from the configured `start`, which is the offset `to`. In the old topic, urlfold had read the records before the offset `position`; unread records are lost.",
	"kafka rebalance did not wait for all records, they will be read again":  "A sink took longer than `drain_timeout`. Records in flight will be duplicated. Raise `drain_timeout`, or look for a slow sink.",
	"kafka records deleted by retention before they were read":               "The group lags behind by more than the retention period, so it can no longer read these records. First extend the retention, then add instances.",

	// sources/nats
	"consumer available again": "The stream and the consumer exist again. Nothing to do.",
	"consumer created":         "The first start created the durable consumer. Nothing to do.",
	"consumer recreated":       "The consumer was deleted. Reading continued after the last acknowledged message: see [A stream or a consumer was deleted](../recovery.md#a-stream-or-a-consumer-was-deleted).",
	"consumer recreated, nothing known to be acknowledged":    "The consumer was deleted, and urlfold does not know which messages were acknowledged. It created the consumer again and reads from `start`: messages may be lost or duplicated. See [A stream or a consumer was deleted](../recovery.md#a-stream-or-a-consumer-was-deleted).",
	"consumer unavailable, retrying":                          "The stream or the consumer is missing, or the server does not answer. If the error persists, create what `error` names, or set `consumer.create: true`.",
	"messages deleted before they were acknowledged":          "Messages were deleted from the stream before this consumer acknowledged them: it can no longer read them. Raise `max_age` or the limits of the stream.",
	"messages possibly deleted before they were acknowledged": "Messages were deleted from the stream before a consumer with a filter had reached them, or while an interest stream had no consumer. The server does not say how many of the sequences `from` to `to` were for this consumer. Raise the limits of the stream.",
	"stream lost messages at its end":                         "The stream ends before the last acknowledged sequence, as after a restore from a backup. The messages after `last_sequence` are gone from the stream. If a producer still has them, publish them again.",
	"stream recreated, its sequences restart":                 "The stream was deleted and created again. The new consumer begins at the configured `start`: see [A stream or a consumer was deleted](../recovery.md#a-stream-or-a-consumer-was-deleted).",
}
