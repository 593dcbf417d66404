package deploy

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
	"github.com/urlfold/urlfold/internal/testkit/natstest"
)

// What compose.yaml holds: the part of the Compose specification that it uses. A
// key that is not here fails the test, so a typing mistake does too.
type (
	compose struct {
		Name     string             `yaml:"name"`
		Shared   service            `yaml:"x-urlfold"`
		Services map[string]service `yaml:"services"`
		Volumes  map[string]struct{}
	}
	service struct {
		Image       string                `yaml:"image"`
		Build       *build                `yaml:"build"`
		Profiles    []string              `yaml:"profiles"`
		Entrypoint  []string              `yaml:"entrypoint"`
		Command     []string              `yaml:"command"`
		Environment map[string]string     `yaml:"environment"`
		Volumes     []string              `yaml:"volumes"`
		Ports       []string              `yaml:"ports"`
		DependsOn   map[string]dependency `yaml:"depends_on"`
		Healthcheck *healthcheck          `yaml:"healthcheck"`
		Restart     string                `yaml:"restart"`
		Grace       string                `yaml:"stop_grace_period"`
		ReadOnly    bool                  `yaml:"read_only"`
		CapDrop     []string              `yaml:"cap_drop"`
		SecurityOpt []string              `yaml:"security_opt"`
		MemLimit    string                `yaml:"mem_limit"`
	}
	build struct {
		Context    string `yaml:"context"`
		Dockerfile string `yaml:"dockerfile"`
	}
	dependency struct {
		Condition string `yaml:"condition"`
	}
	healthcheck struct {
		Test     []string `yaml:"test"`
		Interval string   `yaml:"interval"`
		Timeout  string   `yaml:"timeout"`
		Retries  int      `yaml:"retries"`
	}
)

// read returns a file as text.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// decode reads a YAML file. It fails if the file has a key without a field
// in into.
func decode(t *testing.T, name string, into any) {
	t.Helper()
	if err := yaml.NewDecoder(strings.NewReader(read(t, name)), yaml.Strict()).Decode(into); err != nil {
		t.Fatalf("%s: %s", name, yaml.FormatError(err, false, true))
	}
}

func loadCompose(t *testing.T) *compose {
	t.Helper()
	var c compose
	decode(t, "compose.yaml", &c)
	return &c
}

// A tag of three numbers is one release, for ever.
var pinned = regexp.MustCompile(`^[a-z0-9./-]+:v?\d+\.\d+\.\d+(-[a-z0-9.]+)?$`)

// These tests check compose.yaml without a container engine: images are
// pinned, and what is mounted, waited for and built exists.
func TestCompose(t *testing.T) {
	c := loadCompose(t)
	used := map[string]bool{}
	for name, s := range c.Services {
		if s.Build != nil {
			exists(t, filepath.Join(s.Build.Context, s.Build.Dockerfile))
		} else if !pinned.MatchString(s.Image) {
			t.Errorf("%s: the image %q is not pinned", name, s.Image)
		}
		for _, v := range s.Volumes {
			from, to, _ := strings.Cut(v, ":")
			_, volume := c.Volumes[from]
			switch {
			case volume:
				used[from] = true
			case strings.HasPrefix(from, "."):
				exists(t, from)
			default:
				t.Errorf("%s: the volume %q is not declared", name, from)
			}
			if !strings.HasPrefix(to, "/") {
				t.Errorf("%s: mounted on %q", name, to)
			}
		}
		for _, p := range s.Ports {
			if !strings.HasPrefix(p, "127.0.0.1:") {
				t.Errorf("%s: the port %q is open to the network", name, p)
			}
		}
		for on, d := range s.DependsOn {
			if err := canWait(c, on, d.Condition); err != nil {
				t.Errorf("%s waits for %s: %v", name, on, err)
			}
		}
	}
	if len(used) != len(c.Volumes) {
		t.Errorf("used volumes: %v, declared: %v", used, c.Volumes)
	}
}

func exists(t *testing.T, name string) {
	t.Helper()
	if _, err := os.Stat(name); err != nil {
		t.Error(err)
	}
}

// canWait looks whether a service can be waited for.
func canWait(c *compose, name, condition string) error {
	s, ok := c.Services[name]
	switch {
	case !ok:
		return fmt.Errorf("no such service")
	case condition == "service_healthy" && s.Healthcheck == nil:
		return fmt.Errorf("it has no healthcheck")
	case condition == "service_completed_successfully" && s.Restart != "":
		return fmt.Errorf("it does not end")
	case condition != "service_healthy" && condition != "service_completed_successfully":
		return fmt.Errorf("unknown condition %q", condition)
	}
	return nil
}

// Each example runs in compose.yaml, with a configuration without a mistake, with
// servers that are there, and with no more rights than it needs.
func TestComposeRunsExamples(t *testing.T) {
	c := loadCompose(t)
	examples := map[string]bool{}
	for name, s := range c.Services {
		if s.Build == nil {
			continue
		}
		if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) || len(s.SecurityOpt) == 0 || s.MemLimit == "" {
			t.Errorf("%s has more rights than it needs: %+v", name, s)
		}
		config := configOf(s)
		if config == "" || !slices.Equal(s.Command, []string{"run", "-c", "/etc/urlfold/urlfold.yaml"}) {
			t.Fatalf("%s runs %q with %q", name, s.Command, config)
		}
		examples[filepath.Base(config)] = true
		var env []string
		for k, v := range s.Environment {
			env = append(env, k+"="+v)
			if server := strings.TrimPrefix(v, "nats://"); k != "URLFOLD_ADMIN" {
				host, _, _ := strings.Cut(server, ":")
				if _, ok := c.Services[host]; !ok || !strings.Contains(read(t, config), "${"+k+":-") {
					t.Errorf("%s: %s=%s has no effect", name, k, v)
				}
			}
		}
		run(t, env, "check", "-c", config)
	}
	files, err := filepath.Glob("examples/*.yaml")
	if err != nil || len(files) != len(examples)+1 || examples["filter.yaml"] { // filter.yaml cannot be run, because it reads from the program before it
		t.Errorf("of %v, %v are run (%v)", files, examples, err)
	}
}

// configOf returns the file of this folder that a service of urlfold runs.
func configOf(s service) string {
	for _, v := range s.Volumes {
		if from, ok := strings.CutSuffix(v, ":/etc/urlfold/urlfold.yaml:ro"); ok {
			return from
		}
	}
	return ""
}

// The topics and streams that compose.yaml makes are those of the examples.
func TestComposeNames(t *testing.T) {
	c := loadCompose(t)
	f := func(service, example string, name *regexp.Regexp, want int) {
		t.Helper()
		text := read(t, "examples/"+example)
		script := strings.Join(c.Services[service].Command, "\n")
		made := map[string]bool{}
		for _, m := range name.FindAllStringSubmatch(script, -1) {
			made[m[1]] = true
			if !strings.Contains(text, strings.TrimSuffix(m[1], ">")) {
				t.Errorf("%s does not name %s", example, m[1])
			}
		}
		if len(made) != want {
			t.Errorf("%s makes %v", service, slices.Sorted(maps.Keys(made)))
		}
	}
	f("kafka-topics", "analytics.yaml", regexp.MustCompile(`(?m)^topic (\S+) \d+ \d+$`), 3)
	f("nats-streams", "crawler.yaml", regexp.MustCompile(`(?m)^stream (?:\S+) '(\S+)' \S+$`), 2)
}

// With the limits of compose.yaml, the dead letters of long records are not cut.
func TestComposeLimits(t *testing.T) {
	c := loadCompose(t)
	o, err := server.ProcessConfigFile("nats/nats.conf")
	if err != nil {
		t.Fatal(err)
	}
	srv := natstest.Start(t, func(s *server.Options) { s.MaxPayload = o.MaxPayload })
	conn, err := nats.Connect(srv.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^stream (\S+) '(\S+)' (\S+)$`).FindAllStringSubmatch(c.Services["nats-streams"].Command[0], -1) {
		limit, err := strconv.ParseInt(m[3], 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: m[1], Subjects: []string{m[2]}, MaxMsgSize: int32(limit), Duplicates: 10 * time.Minute}); err != nil {
			t.Fatal(err)
		}
	}
	_, broker := kafkatest.Fake(t)
	for _, m := range regexp.MustCompile(`(?m)^topic (\S+) \d+ (\d+)$`).FindAllStringSubmatch(c.Services["kafka-topics"].Command[0], -1) {
		kafkatest.CreateTopic(t, broker, m[1], 1, map[string]string{"max.message.bytes": m[2]})
	}
	env := []string{"NATS_URL=" + srv.URL(), "KAFKA_BROKER=" + broker.Brokers[0]}
	for _, example := range []string{"analytics.yaml", "crawler.yaml"} {
		cmd := exec.Command(binary, "check", "--connect", "-c", "examples/"+example)
		cmd.Env = append(os.Environ(), env...)
		if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "truncated") {
			t.Errorf("%s: %v, %s", example, err, out)
		}
	}
}

// The NATS server acknowledges what is on the disk, and keeps it in the volume.
func TestComposeNATS(t *testing.T) {
	const conf = "nats/nats.conf"
	n := loadCompose(t).Services["nats"]
	if !slices.Equal(n.Command, []string{"-c", "/etc/nats/nats.conf"}) || !slices.Contains(n.Volumes, "./"+conf+":/etc/nats/nats.conf:ro") || !slices.Contains(n.Volumes, "nats:/data") {
		t.Errorf("command %q, volumes %q", n.Command, n.Volumes)
	}
	o, err := server.ProcessConfigFile(conf)
	if err != nil {
		t.Fatal(err)
	}
	if !o.JetStream || !o.SyncAlways || o.StoreDir != "/data" || o.HTTPPort != 8222 {
		t.Errorf("JetStream %v, sync always %v, in %s, monitoring at %d", o.JetStream, o.SyncAlways, o.StoreDir, o.HTTPPort)
	}
}

// The tests run with the same versions of everything as the containers.
func TestVersions(t *testing.T) {
	c := loadCompose(t)
	mod := read(t, "../go.mod")
	f := func(what, text, have, want string) {
		t.Helper()
		m := regexp.MustCompile(have).FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("%s: no %s", what, have)
		}
		if m[1] != want {
			t.Errorf("%s: %s, but %s in the tests", what, m[1], want)
		}
	}
	find := func(text, pattern string) string {
		t.Helper()
		m := regexp.MustCompile(pattern).FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("no %s", pattern)
		}
		return m[1]
	}
	f("kafka", c.Services["kafka"].Image, `^apache/kafka:(.*)$`, find(read(t, "../.ci/kafka"), `(?m)^version=(.*)$`))
	f("nats", c.Services["nats"].Image, `^nats:(\d+\.\d+)\.`, find(mod, `nats-server/v2 v(\d+\.\d+)\.`))
	f("go", read(t, "Dockerfile"), `(?m)^FROM golang:(\d+\.\d+)\.\d+-`, find(mod, `(?m)^go (\d+\.\d+)`))
	if c.Services["kafka-topics"].Image != c.Services["kafka"].Image {
		t.Error("two versions of Kafka")
	}
}

// The image holds one static binary, and does not run as root.
func TestDockerfile(t *testing.T) {
	text := read(t, "Dockerfile")
	stages := regexp.MustCompile(`(?m)^FROM `).Split(text, -1)
	last := stages[len(stages)-1]
	if len(stages) != 3 || !strings.HasPrefix(last, "scratch\n") {
		t.Errorf("%d stages, the last from %.20q", len(stages)-1, last)
	}
	if !strings.Contains(text, "CGO_ENABLED=0 go build -trimpath") {
		t.Error("the binary is not static")
	}
	m := regexp.MustCompile(`(?m)^USER (\d+):(\d+)$`).FindStringSubmatch(last)
	if m == nil || m[1] == "0" || m[2] == "0" {
		t.Errorf("it runs as %q", m)
	}
	entry := regexp.MustCompile(`(?m)^ENTRYPOINT \["(.*)"\]$`).FindStringSubmatch(last)
	if entry == nil || !strings.Contains(last, "COPY --from=build /out/urlfold "+entry[1]+"\n") {
		t.Errorf("it runs %q", entry)
	}
	// The folder of a volume must belong to that user, or the user cannot
	// write to it.
	for _, dir := range []string{"/var/lib/urlfold", "/data/clean", "/data/done"} {
		if !strings.Contains(text, "/out/root"+dir) {
			t.Errorf("the image has no %s", dir)
		}
	}
	if strings.Contains(last, "\nRUN ") {
		t.Error("there is no shell for RUN in the last stage")
	}
}
