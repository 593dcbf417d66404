package nats

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/config/connect"
)

// Errors about a connection name the servers, and no user and no password.
func TestAddresses(t *testing.T) {
	got := addresses([]string{"nats://n1:4222", "n2", "tls://u:hun%40ter2@[::1]:4222/x", "wss://token@n3"})
	if want := "n1:4222, n2, [::1]:4222, n3"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// If the caller gives up, the error of the last attempt is returned: the end
// of the context says nothing about the servers.
func TestConnectGivesUp(t *testing.T) {
	cfg := connect.DefaultNATS()
	cfg.Servers = []string{"nats://u:hunter2@127.0.0.1:1"}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_, err := Connect(ctx, cfg)
	if err == nil || errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "127.0.0.1:1: ") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error %v", err)
	}
}
