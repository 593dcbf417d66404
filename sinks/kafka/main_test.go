package kafka

import (
	"os"
	"testing"

	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
)

func TestMain(m *testing.M) { os.Exit(kafkatest.Main(m, os.Stderr)) }
