package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/daemon"
)

// adminFlags name the address of the admin server of a running daemon.
type adminFlags struct{ file, admin string }

// register adds the options to a command.
func (f *adminFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.admin, "admin", "", "connect to the admin server at this `ADDRESS`: HOST:PORT, or unix: and the path of a socket. Default: admin.listen of --config, otherwise "+config.Default().Admin.Listen)
	cmd.Flags().StringVarP(&f.file, "config", "c", "", "read the address of the admin server from this configuration `FILE`")
	_ = cmd.MarkFlagFilename("config", "yaml", "yml") // the flag exists
}

// An adminClient sends requests to the admin server of a running daemon.
type adminClient struct {
	http http.Client
	base string // base of URLs
	at   string // the address, for messages
}

// client returns the client for the options.
func (f *adminFlags) client(c *daemon.Catalog) (*adminClient, error) {
	address := f.admin
	if address == "" && f.file != "" {
		conf, err := c.Load(f.file)
		if err != nil {
			return nil, command.BadConfig(err)
		}
		if address = conf.Admin.Listen; address == "" {
			return nil, command.Usagef("%s: admin.listen is empty, so the daemon has no admin server", f.file)
		}
	}
	address = cmp.Or(address, config.Default().Admin.Listen)
	a := &adminClient{base: "http://" + address, at: address}
	network := "tcp"
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		network, address, a.base = "unix", path, "http://localhost"
	} else if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, command.Usagef("--admin: must be HOST:PORT, such as 127.0.0.1:8686 or \"[::1]:8686\", or unix:PATH")
	}
	dialer := net.Dialer{Timeout: 5 * time.Second}
	a.http.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, reachable(address))
	}}
	return a, nil
}

// reachable replaces the address on which a server listens on all interfaces.
func reachable(address string) string {
	if host, port, err := net.SplitHostPort(address); err == nil && (host == "" || host == "0.0.0.0" || host == "::") {
		return net.JoinHostPort("localhost", port)
	}
	return address
}

// maxAnswer is the largest answer that get reads, in bytes.
const maxAnswer = 16 << 20

// open requests a path with parameters. The caller must close the body. An
// answer other than 200 is an error with the text of the server.
func (a *adminClient) open(ctx context.Context, path string, q url.Values) (io.ReadCloser, error) {
	target := a.base + path
	if len(q) > 0 {
		target += "?" + q.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return nil, err
	}
	answer, err := a.http.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err
		}
		return nil, fmt.Errorf("connect to the admin server at %s: %w (is the daemon running? pass its address with --admin or -c)", a.at, err)
	}
	if answer.StatusCode == http.StatusOK {
		return answer.Body, nil
	}
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 4<<10))
	_ = answer.Body.Close()
	return nil, &statusError{answer.StatusCode, strings.TrimSpace(string(text)), a.at}
}

// A statusError is an answer of the admin server that is not 200.
type statusError struct {
	code     int
	text, at string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("the admin server at %s answered %d: %s", e.at, e.code, strings.ReplaceAll(e.text, "\n", "; "))
}

// get returns the content at a path.
func (a *adminClient) get(ctx context.Context, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	body, err := a.open(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }() // closing a body loses no data
	text, err := io.ReadAll(io.LimitReader(body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("read from the admin server at %s: %w", a.at, err)
	}
	return text, nil
}
