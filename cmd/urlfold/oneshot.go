package main

import "github.com/spf13/cobra"

func runOneShot(cmd *cobra.Command, o *options, args []string) error { return nil }
