package deploy

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// A manifest is the part of a Kubernetes object that the tests look at.
type manifest struct {
	Kind string
	Spec struct {
		Completions int
		Template    struct {
			Spec podSpec
		}
	}
}

type podSpec struct {
	Grace           int   `yaml:"terminationGracePeriodSeconds"`
	Token           *bool `yaml:"automountServiceAccountToken"`
	SecurityContext struct {
		RunAsNonRoot bool                  `yaml:"runAsNonRoot"`
		RunAsUser    int                   `yaml:"runAsUser"`
		Seccomp      struct{ Type string } `yaml:"seccompProfile"`
	} `yaml:"securityContext"`
	Containers []struct {
		Image, Name     string
		Args            []string
		Env             []struct{ Name, Value string }
		SecurityContext struct {
			Escalation   *bool                   `yaml:"allowPrivilegeEscalation"`
			ReadOnly     bool                    `yaml:"readOnlyRootFilesystem"`
			Capabilities struct{ Drop []string } `yaml:"capabilities"`
		} `yaml:"securityContext"`
		VolumeMounts []struct {
			MountPath string `yaml:"mountPath"`
		} `yaml:"volumeMounts"`
	}
}

// workloads returns the objects of deploy/kubernetes that make pods, by folder.
func workloads(t *testing.T) map[string]manifest {
	t.Helper()
	all := map[string]manifest{}
	for _, folder := range []string{"stream", "files", "shards"} {
		var list struct{ Resources []string }
		load(t, "kubernetes/"+folder+"/kustomization.yaml", &list)
		if len(list.Resources) != 1 {
			t.Fatalf("%s: %q", folder, list.Resources)
		}
		for doc := range strings.SplitSeq(read(t, filepath.Join("kubernetes", folder, list.Resources[0])), "\n---\n") {
			var m manifest
			must(t, yaml.Unmarshal([]byte(doc), &m))
			if len(m.Spec.Template.Spec.Containers) > 0 {
				all[folder] = m
			}
		}
	}
	if len(all) != 3 {
		t.Fatalf("%d workloads: %v", len(all), all)
	}
	return all
}

// TestKubernetesPods checks that each pod runs the image of the release as its user,
// without privileges, and with the folders that the image expects to write to.
func TestKubernetesPods(t *testing.T) {
	image := regexp.MustCompile(`ghcr\.io/\S+:[0-9.]+`).FindString(read(t, installPage))
	for folder, m := range workloads(t) {
		pod := m.Spec.Template.Spec
		c := pod.Containers[0]
		if s := pod.SecurityContext; !s.RunAsNonRoot || s.RunAsUser != 65532 || s.Seccomp.Type != "RuntimeDefault" || pod.Token == nil || *pod.Token {
			t.Errorf("%s: %+v, or it has a token of the API", folder, s)
		}
		if s := c.SecurityContext; s.Escalation == nil || *s.Escalation || !s.ReadOnly || !slices.Equal(s.Capabilities.Drop, []string{"ALL"}) {
			t.Errorf("%s: %+v", folder, s)
		}
		if c.Image != image {
			t.Errorf("%s runs %s, and the page installs %s", folder, c.Image, image)
		}
		mounts := []string{"/tmp"}
		if m.Kind != "Job" {
			mounts = append(mounts, "/var/lib/urlfold", "/etc/urlfold")
			if pod.Grace <= 30 || c.Env[0].Name != "URLFOLD_ADMIN" || !strings.HasSuffix(c.Env[0].Value, ":8686") {
				t.Errorf("%s: grace %d s, environment %v", folder, pod.Grace, c.Env)
			}
		}
		for _, path := range mounts {
			if !strings.Contains(strings.Join(mountPaths(m), " ")+" ", path+" ") {
				t.Errorf("%s mounts nothing at %s", folder, path)
			}
		}
	}
}

func mountPaths(m manifest) (paths []string) {
	for _, v := range m.Spec.Template.Spec.Containers[0].VolumeMounts {
		paths = append(paths, v.MountPath)
	}
	return paths
}

// TestKubernetesShards runs what the pods of the Job run, and adds up their reports.
func TestKubernetesShards(t *testing.T) {
	m := workloads(t)["shards"]
	dir := t.TempDir()
	must(t, exec.Command("mkdir", dir+"/logs", dir+"/out").Run())
	for _, name := range []string{"a", "b", "c"} {
		must(t, exec.Command("cp", "../testdata/sample/access.log.gz", dir+"/logs/"+name+".log.gz").Run())
	}
	merge := []string{"report", "--merge"}
	for index := range m.Spec.Completions {
		var args []string
		for _, a := range m.Spec.Template.Spec.Containers[0].Args {
			a = strings.ReplaceAll(a, "$(JOB_COMPLETION_INDEX)", string(rune('0'+index)))
			args = append(args, regexp.MustCompile(`^/(logs|out)`).ReplaceAllString(a, dir+"/$1"))
		}
		run(t, nil, args...)
		merge = append(merge, dir+"/out/shard-"+string(rune('0'+index))+".json")
	}
	if out := run(t, nil, merge...); !strings.Contains(out, `"records": 591`) {
		t.Errorf("the reports have the sum\n%.600s", out)
	}
	if clean, err := filepath.Glob(dir + "/out/clean/*"); err != nil || len(clean) != 3 {
		t.Errorf("%q, %v", clean, err)
	}
}

// TestKubernetesSchemas validates the manifests against the schemas of Kubernetes.
func TestKubernetesSchemas(t *testing.T) {
	tool, err := exec.LookPath("kubernetes-validate")
	if err != nil {
		t.Skip("skipped: kubernetes-validate is not installed: python3 -m pip install kubernetes-validate")
	}
	files, err := filepath.Glob("kubernetes/*/*.yaml")
	must(t, err)
	files = slices.DeleteFunc(files, func(f string) bool { return strings.Contains(f, "kustomization") || strings.Contains(f, "keda") })
	if out, err := exec.Command(tool, append([]string{"--strict"}, files...)...).CombinedOutput(); err != nil || len(files) != 3 {
		t.Errorf("%v\n%s", err, out)
	}
}
