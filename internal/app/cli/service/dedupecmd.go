package service

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/daemon"
	"github.com/urlfold/urlfold/internal/storage/checkpoint"
)

const dedupeLong = `Empty the set of keys that "urlfold run" has stored for dedupe. The checkpoints of the inputs stay as they are. Records
after them count as the first of their key again.

"reset" locks the data directory, so stop the daemon first. "urlfold state reset" empties the set, too. With a
changelog, "reset" is an error: stop all instances, and delete the topic or name another one.`

const dedupeExamples = `  urlfold dedupe reset -c urlfold.yaml`

func newDedupe(cat *daemon.Catalog) *cobra.Command {
	cmd := &cobra.Command{Use: "dedupe", Short: "Empty the stored set of keys of dedupe", Long: dedupeLong, Example: dedupeExamples}
	d := newDataFlags(cmd, cat)
	return command.WithCommands(cmd, &cobra.Command{
		Use: "reset", Short: "Empty the stored set of keys", Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := d.open()
			if err == nil {
				err = d.elsewhere()
			}
			if err != nil {
				return err
			}
			found, err := checkpoint.ResetKeys(dir)
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
}

// elsewhere returns an error if the configuration keeps the keys of dedupe in a bucket or
// a topic.
func (d *dataFlags) elsewhere() error {
	if d.file == "" {
		return nil
	}
	f, err := loadConfig(d.cat, d.file)
	switch {
	case err != nil || f.Dedupe == nil:
		return err
	case f.Dedupe.Bucket != "" && d.dir == "":
		bucket := f.Dedupe.Bucket
		return fmt.Errorf("the keys are in the bucket %q: delete it with nats kv rm %s, or name another bucket in dedupe.bucket", bucket, bucket)
	case f.Dedupe.Changelog != nil:
		return f.ErrorAt("dedupe.changelog.topic", fmt.Errorf("the keys are in the topic %s: stop all instances, and delete the topic or name another one", f.Dedupe.Changelog.Topic))
	}
	return nil
}
