package deploy

import (
	"fmt"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// What .goreleaser.yaml holds, as far as the tests compare it with other files.
type (
	releaser struct {
		Before   struct{ Hooks []string }
		Builds   []releaseBuild
		Archives []releaseArchive
		NFPMs    []releasePackage `yaml:"nfpms"`
		Casks    []releaseCask    `yaml:"homebrew_casks"`
		Scoops   []releaseAddress
		AURs     []releaseAddress `yaml:"aurs"`
	}
	releaseBuild struct {
		Env, Flags, Ldflags, Targets []string
	}
	releaseArchive struct {
		Name  string `yaml:"name_template"`
		Wrap  bool   `yaml:"wrap_in_directory"`
		Files []releaseFile
	}
	releaseFile struct {
		Src, Dst string
	}
	releasePackage struct {
		Formats        []string
		Contents       []releaseFile
		Scripts        map[string]string
		APK, Archlinux struct{ Scripts map[string]string }
	}
	releaseAddress struct {
		URL string `yaml:"url_template"`
	}
	releaseCask struct {
		URL         struct{ Template string }
		Manpages    []string
		Completions map[string]string
	}
)

// load reads the part of a YAML file that into has a place for.
func load(t *testing.T, name string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(read(t, name)), into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func readReleaser(t *testing.T) releaser {
	t.Helper()
	var r releaser
	load(t, "../.goreleaser.yaml", &r)
	if len(r.Builds) != 1 || len(r.Archives) != 1 || len(r.NFPMs) != 1 || len(r.Casks) != 1 {
		t.Fatalf("%+v", r)
	}
	return r
}

// TestReleaseFiles checks that each file that an archive or a package installs exists:
// in the repository, or among those that deploy/release/prepare makes.
func TestReleaseFiles(t *testing.T) {
	r := readReleaser(t)
	prepare := read(t, "release/prepare")
	made := regexp.MustCompile(`"\$share/([a-z.]+)`)
	var share []string
	for _, m := range made.FindAllStringSubmatch(prepare, -1) {
		share = append(share, strings.TrimSuffix(m[1], "."))
	}
	files := slices.Concat(r.Archives[0].Files, r.NFPMs[0].Contents)
	for _, script := range r.NFPMs[0].Scripts {
		files = append(files, releaseFile{Src: script})
	}
	for _, hook := range r.Before.Hooks {
		files = append(files, releaseFile{Src: hook})
	}
	for _, f := range files {
		inShare, ok := strings.CutPrefix(f.Src, "out/share/")
		if !ok {
			if _, err := os.Stat("../" + f.Src); err != nil {
				t.Errorf(".goreleaser.yaml installs %s: %v", f.Src, err)
			}
			continue
		}
		first, rest, _ := strings.Cut(inShare, "/")
		shell := strings.TrimPrefix(path.Ext(rest), ".")
		if !slices.Contains(share, first) || first == "completions" && !strings.Contains(rest, "*") &&
			!regexp.MustCompile(`for shell in [a-z ]*\b`+shell+`\b|urlfold\.`+shell+`"`).MatchString(prepare) {
			t.Errorf(".goreleaser.yaml installs %s, which deploy/release/prepare does not make (%q)", f.Src, share)
		}
	}
	if pages := r.Casks[0].Manpages; !slices.Equal(pages, []string{"share/man/man*/*.gz"}) || r.Archives[0].Wrap {
		t.Errorf("the cask installs the man pages %q of an archive with a folder: %v", pages, r.Archives[0].Wrap)
	}
	for shell, name := range r.Casks[0].Completions {
		if want := "share/completions/urlfold." + shell; name != want {
			t.Errorf("the cask installs %s as completions of %s, want %s", name, shell, want)
		}
	}
	// goreleaser has a default only if it makes the release itself.
	addresses := []string{r.Casks[0].URL.Template}
	for _, a := range slices.Concat(r.Scoops, r.AURs) {
		addresses = append(addresses, a.URL)
	}
	const download = "https://github.com/urlfold/urlfold/releases/download/{{ .Tag }}/{{ .ArtifactName }}"
	if !slices.Equal(addresses, []string{download, download, download}) {
		t.Errorf("the cask, the manifest and the PKGBUILD download from %q, want %s", addresses, download)
	}
	for _, name := range []string{"tools", "make", "check", "prepare", "wheel.py", "npm.py", "image.py", "licences.py", "verify.py"} {
		if info, err := os.Stat("release/" + name); err != nil || info.Mode()&0o111 == 0 {
			t.Errorf("deploy/release/%s is not a program: %v", name, err)
		}
	}
}

// TestReleaseLdflags checks that the linker sets variables that exist: it says nothing
// about others.
func TestReleaseLdflags(t *testing.T) {
	r := readReleaser(t)
	flags := strings.Join(r.Builds[0].Ldflags, " ")
	variables := regexp.MustCompile(`-X github\.com/urlfold/urlfold/(\S+)\.(\w+)=`).FindAllStringSubmatch(flags, -1)
	if len(variables) != 3 {
		t.Errorf("%d variables in %q", len(variables), flags)
	}
	for _, v := range variables {
		declared := regexp.MustCompile(`(?m)^var [a-z, ]*\b` + v[2] + `\b[a-z, ]* string$`)
		if !declared.MatchString(readAll(t, "../"+v[1]+"/*.go")) {
			t.Errorf("package %s has no variable %s", v[1], v[2])
		}
	}
	if !slices.Contains(r.Builds[0].Env, "CGO_ENABLED=0") || !slices.Contains(r.Builds[0].Flags, "-trimpath") {
		t.Errorf("the build is not static and trimmed: %v, %v", r.Builds[0].Env, r.Builds[0].Flags)
	}
}

const installPage = "../docs/how-to/install.md"

// TestInstallPage checks that the page lists the platforms of a release and no others,
// that each file it names is one that a release has, and that it, the README and the
// changelog name one version.
func TestInstallPage(t *testing.T) {
	r := readReleaser(t)
	page, readme := read(t, installPage), read(t, "../README.md")
	systems := map[string]string{"Linux": "linux", "macOS 12 or later": "darwin", "FreeBSD": "freebsd", "Windows": "windows"}
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^\\| ([A-Za-z0-9 ]+) \\| ([a-z0-9, ]+) \\| `").FindAllStringSubmatch(page, -1) {
		for arch := range strings.SplitSeq(m[2], ", ") {
			listed = append(listed, systems[m[1]]+"_"+arch)
		}
	}
	slices.Sort(listed)
	if targets := slices.Sorted(slices.Values(r.Builds[0].Targets)); !slices.Equal(listed, targets) {
		t.Errorf("the page lists %v, and a release has %v", listed, targets)
	}

	version := regexp.MustCompile(`(?:[_v-]|urlfold:|VERSION=|[Rr]elease )([0-9]+\.[0-9]+\.[0-9]+)`)
	versions := map[string]bool{}
	for _, m := range version.FindAllStringSubmatch(page+readme, -1) {
		versions[m[1]] = true
	}
	if len(versions) != 1 {
		t.Fatalf("the pages name several versions: %v", slices.Sorted(maps.Keys(versions)))
	}
	v := slices.Collect(maps.Keys(versions))[0]
	released := regexp.MustCompile(`(?m)^## \[([0-9.]+)\]`).FindStringSubmatch(read(t, "../CHANGELOG.md"))
	if want := "0.1.0"; released == nil && v != want || released != nil && v != released[1] {
		t.Errorf("the pages name version %s, and the changelog %q (before the first release: %s)", v, released, want)
	}

	names := releaseNames(r, v)
	mentioned := regexp.MustCompile(`\burlfold[_-][0-9][a-z0-9_.-]+[a-z0-9]`).FindAllString(page+readme, -1)
	for _, name := range mentioned {
		if !slices.Contains(names, name) {
			t.Errorf("the page names the file %s, and a release has none of that name: %q", name, names)
		}
	}
	if len(mentioned) < 8 {
		t.Errorf("the pages name %q", mentioned)
	}
}

// releaseNames returns the names of the archives, packages and bills of a release.
func releaseNames(r releaser, version string) (names []string) {
	rpm := map[string]string{"amd64": "x86_64", "arm64": "aarch64", "riscv64": "riscv64"}
	for _, target := range r.Builds[0].Targets {
		system, arch, _ := strings.Cut(target, "_")
		name := strings.NewReplacer("{{ .Version }}", version, "{{ .Os }}", system, "{{ .Arch }}", arch).Replace(r.Archives[0].Name)
		names = append(names, name+".tar.gz", name+".zip", name+".cdx.json")
		if system == "linux" {
			names = append(names, fmt.Sprintf("urlfold_%s_%s.deb", version, arch), fmt.Sprintf("urlfold-%s-1.%s.rpm", version, rpm[arch]),
				fmt.Sprintf("urlfold_%s_%s.apk", version, rpm[arch]), fmt.Sprintf("urlfold-%s-1-%s.pkg.tar.zst", version, rpm[arch]))
		}
	}
	return names
}

// TestReleaseScripts checks that the scripts that make wheels, npm packages and images, and
// those that install, know each platform of a release.
func TestReleaseScripts(t *testing.T) {
	sh, ps1 := read(t, "release/install.sh"), read(t, "release/install.ps1")
	for _, target := range readReleaser(t).Builds[0].Targets {
		system, arch, _ := strings.Cut(target, "_")
		key := fmt.Sprintf("(%q, %q)", system, arch)
		if system != "freebsd" && !strings.Contains(read(t, "release/wheel.py"), key) { // PyPI takes no wheels for it
			t.Errorf("wheel.py does not know %s", key)
		}
		if !strings.Contains(read(t, "release/npm.py"), key) {
			t.Errorf("npm.py does not know %s", key)
		}
		if system == "windows" && !strings.Contains(ps1, "{ '"+arch+"' }") ||
			system != "windows" && (!strings.Contains(sh, "arch="+arch+" ;;") || !regexp.MustCompile(`(?m)^  [a-z |]*\b`+system+`\b[a-z |]*\) ;;$`).MatchString(sh)) {
			t.Errorf("no script installs %s", target)
		}
	}
}

// TestPackageConfig checks that the configuration of the packages is valid, and that their
// unit and scripts use the same paths and the same user.
func TestPackageConfig(t *testing.T) {
	run(t, nil, "check", "-c", "release/urlfold.yaml")
	s := settings(t, read(t, unit))
	user := s["Service.User"][0]
	if text := read(t, "release/urlfold.sysusers"); !strings.HasPrefix(text, "u "+user+" ") {
		t.Errorf("sysusers.d makes another user than %s: %s", user, text)
	}
	// deb and rpm run the script after an upgrade, too.
	p := readReleaser(t).NFPMs[0]
	for _, upgrade := range []map[string]string{p.APK.Scripts, p.Archlinux.Scripts} {
		if upgrade["postupgrade"] != p.Scripts["postinstall"] {
			t.Errorf("%v: after an upgrade, %s cannot read a new urlfold.yaml", upgrade, user)
		}
	}
	scripts := readAll(t, "release/*.sh")
	for _, want := range []string{"useradd --system --user-group", "/var/lib/" + s["Service.StateDirectory"][0], "/etc/" + s["Service.ConfigurationDirectory"][0]} {
		if !strings.Contains(scripts, want) {
			t.Errorf("no script has %q", want)
		}
	}
}
