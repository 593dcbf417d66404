package cli

// advice says for each log event what it means and what to do, in the Markdown of
// docs/reference/log-events.md. TestDocs fails if an event has no advice, or if
// advice is for an event that no code logs.
var advice = map[string]string{
	// internal/cli
	"inputs read at once reduced to fit the descriptor limit": "Fewer inputs are read in parallel than there are jobs. Raise the limit with `ulimit -n`, or lower `--jobs`.",

	// internal/client/nats
	"NATS connection lost, reconnecting": "The server or the network is down. Nothing is lost with JetStream; core NATS loses messages that arrive meanwhile. If it lasts, check the server.",
	"NATS connection restored":           "Reading and publishing continue. Nothing to do.",
	"messages dropped, slow consumer":    "Core NATS delivered faster than urlfold processed, and the client dropped messages: they are lost. Raise `pending`, add members to the `queue` group, or use JetStream.",
	"publish failed, retrying":           "The server did not accept messages; urlfold keeps them and publishes them again. If it lasts, look at `error` and at the server: a full stream, missing rights, no responders.",
	"publish recovered":                  "The server accepts messages again. Nothing to do.",
	"read failed, retrying":              "Messages could not be fetched. If it lasts, look at `error` and at the server.",
	"read recovered":                     "Messages are fetched again. Nothing to do.",
	"server refused a request":           "The server answered with an error, usually missing rights for a subject. Correct the permissions of the user.",
	"suboptimal NATS settings":           "The run works, but a setting of the stream or the consumer can cost throughput or cause duplicates. Change what `warning` names.",

	// internal/daemon
	"checkpoint damaged": "Part of the stored state cannot be used; `problem` says which records are read again. Check the disk: see [The checkpoint is damaged](../operations.md#the-checkpoint-is-damaged).",
	"configuration rejected, keeping the previous one": "A reload failed, and the previous configuration is still in force. Correct the mistake in `error`, check with `urlfold validate`, and send SIGHUP again.",
	"configuration reloaded":                           "A reload succeeded; `effect` says what it changed. Nothing to do.",
	"file finished":                                    "All of the file was read; `verdict` is the result of its checksums. WARN means damage, with the numbers of verified and unverified lines: see [Damaged files](../operations.md#damaged-files).",
	"file known to be damaged":                         "An earlier run found the damage and read what can be read. Replace the file by an intact copy, or remove it.",
	"input not read to the end":                        "The run was stopped inside this input. The next run continues there.",
	"listening":                                        "The admin server accepts connections at `admin`. Nothing to do.",
	"memory limit too low":                             "The batches and buffers of this configuration need more than `memory.limit`. Raise it, or lower what `error` names.",
	"new configuration failed to start, restoring the previous one": "A source or a sink of the new configuration could not be opened. Look at `error`, correct it, and send SIGHUP again.",
	"open files reduced to fit the descriptor limit":                "The source keeps fewer files open than `max_open_files`. Raise the limit of the process: `LimitNOFILE=` in systemd, `ulimit -n` in a shell.",
	"orphaned output finished":                                      "An output of a sink that is no longer configured got its final name. Nothing to do.",
	"orphaned output left unfinished":                               "An output of a sink that is no longer configured stays `.part`. Repair what `error` says, and start again.",
	"output without checkpointed extent finished":                   "An output from before `exactly_once` was switched on got its final name; the sink continues in another file. Nothing to do.",
	"pipeline replaced before everything was durable":               "A reload did not wait longer for a blocked or failing sink. The new pipeline reads the records in `error` again.",
	"running":                           "The pipeline has started. Nothing to do.",
	"sd_notify failed":                  "The message to systemd about readiness or a reload failed; systemd may kill the service. Check `NOTIFY_SOCKET` and `NotifyAccess=`.",
	"stdout closed by reader, stopping": "The program that reads stdout has ended, as `head` does. Records that it did not take are read again by the next run.",
	"stopped":                           "The pipeline has ended; the attributes count its records. If `abandoned` or `unresolved` is not 0, the next run reads these records again.",
	"systemd watchdog disabled":         "`WATCHDOG_USEC` could not be read, so systemd gets no signs of life. Correct `WatchdogSec=` in the unit.",

	// internal/observe
	"metrics scrape incomplete":        "A scrape of `/metrics` failed or was cut off by the client. If it repeats, raise `scrape_timeout` of Prometheus.",
	"not alive, watchdog not notified": "The process no longer makes progress, and systemd will restart it. Nothing is lost. If it repeats, save `/debug/pprof/goroutine?debug=2` and report it.",
	"watchdog notification failed":     "systemd did not get a sign of life, and may restart the service. Check `NOTIFY_SOCKET`.",
	"admin request refused":            "A request named a host that is not allowed, which can be an attack through a browser. If the host is yours, add it to `admin.allowed_hosts`.",
	"admin server failed":              "`/metrics`, `/readyz` and the status page are gone; records still flow. Restart the process when it suits you.",
	"status page failed":               "The status page could not be written. This is a bug: please report it with `error`.",

	// internal/storage/checkpoint
	"checkpoint compaction failed, retrying":               "The commit log keeps growing until a snapshot succeeds; positions are still stored. Make room on the disk of `dir`, or check its permissions.",
	"checkpoint file missing or changed, writing it again": "Somebody changed `data_dir` while urlfold runs. Nothing is lost; find out who did: see [The checkpoint is removed while urlfold runs](../operations.md#the-checkpoint-is-removed-while-urlfold-runs).",

	// pipeline
	"batch not accepted, retrying":                "A sink had a temporary error and gets the batch again. If it lasts, `/readyz` names the sink: see [A lane is stuck](../operations.md#a-lane-is-stuck).",
	"codec panic, record rejected":                "A bug in urlfold, met by one record, which became a reject. Please report it with `stack`: see [A poison message](../operations.md#a-poison-message).",
	"commit failed, retrying":                     "Positions were not stored. If the process dies now, more records come twice. Look at `error`: the disk of `data_dir`, or the coordinator of the group.",
	"final commit failed, retrying":               "The process waits with its end, up to `shutdown.timeout`, to store the last positions. If that fails, records since the last commit come twice.",
	"records refused, dropped":                    "A sink refused records permanently, and `pipeline.on_refused: drop` lost them. Configure a `dead_letter` if you want to keep them: see [A sink refuses records](../operations.md#a-sink-refuses-records).",
	"records refused, lane blocked":               "A sink refuses a record permanently, and its lane waits. Repair the broker, or configure a `dead_letter`: see [A sink refuses records](../operations.md#a-sink-refuses-records).",
	"records refused, written to the dead letter": "A sink refused records permanently; `code` is the reason of the broker. Look at the dead letter, and raise the limit or correct the records.",
	"refused records accepted, lanes resumed":     "The broker takes the records now. Nothing to do.",
	"run failed": "The run ends with `error` and exit code 1 or 2; positions up to here are stored. See [Exit codes](exit-codes.md).",

	// sinks/file
	"checkpointed output missing, treated as finished":    "The checkpoint knows an output that no longer exists, because it was moved away. If you did not move it, its records are gone: see [Reading again](../operations.md#reading-again).",
	"output compression changed, finishing old output":    "The output on disk has another compression than the configuration asks for; it gets its final name, and another one begins. Nothing to do.",
	"output damaged, continuing with its intact part":     "An output does not end as urlfold left it. The damaged original is kept at `kept`. Check the disk, and which program wrote to the file.",
	"output deleted or moved before its final rename":     "Somebody removed a `.part` file that urlfold was writing. Its acknowledged records are not written again: see [An output was deleted or moved](../operations.md#an-output-was-deleted-or-moved).",
	"output deleted or moved, continuing in another file": "Expected after `logrotate`. Otherwise find out who moved it: see [An output was deleted or moved](../operations.md#an-output-was-deleted-or-moved).",
	"output permissions not narrowed":                     "The output may be readable for more users than its inputs, because the file system refused the change. Use a file system with permissions, or set `mode`.",
	"output write failed, retrying":                       "Usually a full disk. Make room; nothing is lost meanwhile: see [The disk is full](../operations.md#the-disk-is-full).",
	"output write recovered":                              "The sink writes again. Nothing to do.",
	"truncating output to its checkpoint":                 "After a crash, records after the last commit are cut off and written again, as `exactly_once` requires. Nothing to do.",
	"truncating output to its verified records":           "An input turned out to be damaged, and its unverified records are taken out of the output. Nothing to do; `file finished` has the verdict.",
	"truncating torn output":                              "After a crash, an incomplete last record or compressed member is cut off and written again. Nothing to do.",

	// sinks/kafka
	"kafka: batch_bytes exceeds the topic limit, larger batches are split": "Splitting costs requests. Lower `batch_bytes` to the limit, or raise `max.message.bytes` of the topic.",
	"kafka: cannot read topic limits":                                      "The user may not describe the topic, so batches are split only after the broker refuses one. Grant DESCRIBE_CONFIGS if that happens often.",
	"kafka: idempotent writes not allowed, retries may duplicate records":  "The broker does not allow idempotent producers to this user, or is too old. Grant IDEMPOTENT_WRITE on the cluster.",
	"kafka: write failed, retrying":                                        "Brokers do not take records; the sink keeps them and tries again. If it lasts, look at `error`: a broker that is down, missing rights, a missing topic.",
	"kafka: write recovered":                                               "Brokers take records again. Nothing to do.",

	// sources/file
	"cannot access file or folder":                                            "A file or folder that `include` matches cannot be examined. urlfold retries at each poll. Correct its permissions.",
	"cannot read file":                                                        "A file that `include` matches cannot be opened or read. urlfold retries at each poll. Correct its permissions, or check the disk.",
	"cannot store start positions":                                            "If the process dies before the next commit, the next run starts at the ends that the files have then, and skips what was written meanwhile. Check the disk of `data_dir`.",
	"compressed file has no checksums, its records are unverified":            "The format of this file cannot show damage, so with `on_damage: quarantine` all of its records count as unverified. Compress with checksums, for example `zstd --check`.",
	"file content verified":                                                   "A large file was compared with the text read before, and agrees. Nothing to do.",
	"file recognized by its content, reading resumed":                         "A renamed, copied or compressed file continues where `was` ended. Nothing to do.",
	"file resembles a known file but differs, reading from the beginning":     "The file begins and ends like a known one, but the text between differs. If it is a rewritten copy, its unchanged records come twice.",
	"file truncated or overwritten, reading from the beginning":               "Expected with `copytruncate`. Records that were not read before are lost: rotate by renaming instead.",
	"no files match the include patterns":                                     "The source waits for files (`mode: tail` or `allow_empty`). Check `include` and the permissions of its folders.",
	"out of descriptors or memory, retrying":                                  "The system has none left for now; the source closed `files_closed` idle files and continues. Raise `LimitNOFILE=` or the memory of the machine, or lower `max_open_files`.",
	"quarantined file no longer damaged, reading continues":                   "The file was replaced by an intact copy with the same beginning. Nothing to do.",
	"restart point does not match the file, decompressing from the beginning": "The compressed file was rewritten. The start takes longer; no record comes twice.",
	"restart point unusable, decompressing from the beginning":                "The stored decoder state cannot be read. The start takes longer; no record comes twice. If it repeats, check the disk of `data_dir`.",
	"verifying file content":                                                  "A large file is compared with the text read before, which can take minutes. Nothing to do.",

	// sources/kafka
	"kafka commit refused after the end of its generation, records will be read again": "The group rebalanced before a commit; the next owner of the partitions reads records since the last commit again. If it repeats, raise `session_timeout`.",
	"kafka final commit failed, records will be read again":                            "At the end of a generation, positions were not stored. Records since the last commit come twice. Look at `error`.",
	"kafka generation started": "This instance is a member of the group and reads `partitions`. Nothing to do.",
	"kafka log ends before the position, restarting at the configured start": "The topic was recreated, or a lagging replica became leader. Reading restarts at `start`: records may be missing or come twice. Avoid `unclean.leader.election.enable`.",
	"kafka read failed, retrying":                                            "A broker did not answer, or refused. If it lasts, look at `error`, and at the broker in `where`.",
	"kafka read recovered":                                                   "Records are fetched again. Nothing to do.",
	"kafka rebalance did not wait for all records, they will be read again":  "A sink was slower than the time that a rebalance waits. Records in flight come twice. Raise `drain_timeout`, or look for a slow sink.",
	"kafka records deleted by retention before they were read":               "The group lags more than the retention keeps: these records are lost to it. Raise the retention first, then add instances.",

	// sources/nats
	"consumer available again": "The stream and the consumer exist again. Nothing to do.",
	"consumer created":         "The first start created the durable consumer. Nothing to do.",
	"consumer recreated":       "Somebody deleted the consumer. Reading continued after the last acknowledged message: see [A stream or a consumer was deleted](../operations.md#a-stream-or-a-consumer-was-deleted).",
	"consumer recreated, nothing known to be acknowledged": "Somebody deleted the consumer, and reading began where `start` says: messages may be missing, or come twice.",
	"consumer unavailable, retrying":                       "The stream or the consumer is missing, or the server does not answer. If it lasts, create what `error` names, or set `consumer.create: true`.",
	"messages deleted before they were acknowledged":       "The stream no longer has messages that this consumer did not acknowledge: they are lost to it. Raise `max_age` or the limits of the stream.",
	"stream lost messages at its end":                      "The stream ends before the last acknowledged sequence, as after a restore from a backup. Messages that were published since then are gone from the stream.",
	"stream recreated, its sequences restart":              "Somebody deleted and created the stream. A consumer was created where `start` says: see [A stream or a consumer was deleted](../operations.md#a-stream-or-a-consumer-was-deleted).",
}
