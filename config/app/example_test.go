package app_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/urlfold/urlfold/config/app"
)

// A program that runs the filter on a text of its own.
func ExampleRun() {
	code := app.Run(context.Background(), app.Options{}, []string{"--quiet", "-r", "urls"}, app.IO{
		Stdin:  strings.NewReader("HTTP://Example.com:80/a/../b\n"),
		Stdout: os.Stdout,
		Stderr: os.Stderr,
	})
	fmt.Println("exit code", code)
	// Output:
	// http://example.com/b
	// exit code 0
}
