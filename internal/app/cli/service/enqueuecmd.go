package service

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/daemon"
	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/sources/file"
	"github.com/urlfold/urlfold/sources/objects"
)

const enqueueLong = `List the objects below a prefix, and publish a message about each object to the queue of the source "objects" in a
configuration, so that the instances of the daemon read the objects. With JetStream, you can run the command again after an
error: within its duplicate window, the stream stores each object once. With Kafka and SQS, objects that were
published before are published again.`

func newEnqueue(cat *daemon.Catalog) *cobra.Command {
	var path, subject, shard string
	cmd := &cobra.Command{
		Use: "enqueue [flags] s3://BUCKET/PREFIX", Short: "Publish a message about each object of a bucket to a queue", Long: enqueueLong,
		Example: `  urlfold daemon enqueue -c urlfold.yaml s3://logs/2026/
  urlfold daemon enqueue -c urlfold.yaml --shard 0/4 s3://logs/`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("enqueue: want one s3://BUCKET/PREFIX")
			}
			return nil
		},
	}
	configFlag(cmd, &path)
	f := cmd.Flags()
	f.StringVar(&shard, "shard", "", "publish only this share of the objects: `INDEX/COUNT`, such as 0/7. Each object belongs to one share")
	f.StringVar(&subject, "subject", "", "publish to this stream `subject` or Kafka topic. Default: the source's, if the source reads only one")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var share file.Share
		if err := share.UnmarshalText([]byte(shard)); err != nil {
			return command.Usagef("--shard: %w", err)
		}
		c, err := queueOf(cmd, cat, path)
		if err != nil {
			return err
		}
		n, err := objects.Enqueue(cmd.Context(), c, args[0], subject, share.Owns, slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil)))
		if _, e := fmt.Fprintln(cmd.OutOrStdout(), "published "+terminal.Plural(int64(n), "object", "objects")); e != nil {
			err = errors.Join(err, e)
		}
		return err
	}
	return cmd
}

// queueOf returns the settings of the only source of type objects.
func queueOf(cmd *cobra.Command, cat *daemon.Catalog, path string) (c objects.Config, err error) {
	f, err := loadConfig(cat, path, cmd.InOrStdin())
	if err != nil {
		return c, err
	}
	n := 0
	for _, s := range f.Sources {
		if o, ok := s.Config.(*objects.Config); ok {
			c = *o
			n++
		}
	}
	if n != 1 {
		return c, command.BadConfig(fmt.Errorf("the configuration has %s, want one", terminal.Plural(int64(n), "source of type objects", "sources of type objects")))
	}
	return c, nil
}
