package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/internal/app/daemon"
	"github.com/urlfold/urlfold/internal/storage/checkpoint"
)

const dedupeLong = `Empty the set of keys that "urlfold run" has stored for dedupe. The checkpoints of the inputs stay as they are. Records
after them count as the first of their key again.

"reset" locks the data directory, so stop the daemon first. "urlfold state reset" empties the set, too. With a
changelog, "reset" is an error: stop all instances, and delete the topic or name another one.`

const dedupeExamples = `  urlfold dedupe reset -c urlfold.yaml`

func newDedupeCmd(cat *daemon.Catalog) *cobra.Command {
	var file, dir string
	cmd := &cobra.Command{
		Use: "dedupe", Short: "Empty the stored set of keys of dedupe", Long: dedupeLong, Example: dedupeExamples, Args: noSubcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVarP(&file, "config", "c", "", "read the path of the data directory from this configuration `FILE`")
	cmd.PersistentFlags().StringVar(&dir, "data-dir", "", "use this data `DIRECTORY` instead of the one in a configuration")
	_ = cmd.MarkPersistentFlagDirname("data-dir") // the flag exists
	cmd.AddCommand(&cobra.Command{
		Use: "reset", Short: "Empty the stored set of keys", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if bucket := bucketOf(cat, file, dir); bucket != "" {
				return fmt.Errorf("the keys are in the bucket %q: delete it with nats kv rm %s, or name another bucket in dedupe.bucket", bucket, bucket)
			}
			d, err := dataDir(cat, file, dir)
			if err == nil {
				err = inDataDir(cat, file)
			}
			if err != nil {
				return err
			}
			found, err := checkpoint.ResetKeys(d)
			if err != nil {
				return err
			}
			text := "no set of keys is stored"
			if found {
				text = "set of keys emptied"
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
			return err
		},
	})
	for _, c := range cmd.Commands() {
		asUsage(c)
	}
	return cmd
}

// bucketOf returns the bucket of dedupe in a configuration, or "".
func bucketOf(cat *daemon.Catalog, file, dir string) string {
	if file == "" || dir != "" {
		return ""
	}
	f, err := loadConfig(cat, file)
	if err != nil || f.Dedupe == nil { // the caller loads the file again
		return ""
	}
	return f.Dedupe.Bucket
}

// inDataDir returns an error if the configuration in file keeps the keys
// elsewhere.
func inDataDir(cat *daemon.Catalog, file string) error {
	if file == "" {
		return nil
	}
	f, err := loadConfig(cat, file)
	if err != nil || f.Dedupe == nil || f.Dedupe.Changelog == nil {
		return err
	}
	return f.ErrorAt("dedupe.changelog.topic", fmt.Errorf("the keys are in the topic %s: stop all instances, and delete the topic or name another one", f.Dedupe.Changelog.Topic))
}
