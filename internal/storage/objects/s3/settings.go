package s3

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/internal/storage/objects"
)

// Settings say which store to use, and as whom.
type Settings struct {
	Endpoint      string // URL; empty: Amazon S3
	Region        string // region; empty: ask the store
	Profile       string // profile in the files of the AWS tools; empty: the usual chain
	PathStyle     bool   // the bucket is part of the path, never of the host name
	Anonymous     bool   // requests are not signed
	RequesterPays bool   // the requester accepts the costs of reading
}

// Parse returns the settings in text, such as
// "endpoint=https://minio.example:9000,anonymous". Settings that text leaves
// out come from the settings of the AWS tools in the environment. An error
// never contains a value of the environment.
func Parse(text string, env func(string) string) (s Settings, err error) {
	s = Settings{
		Endpoint: cmp.Or(env("AWS_ENDPOINT_URL_S3"), env("AWS_ENDPOINT_URL")),
		Region:   cmp.Or(env("AWS_REGION"), env("AWS_DEFAULT_REGION")),
	}
	switches := map[string]*bool{"path-style": &s.PathStyle, "anonymous": &s.Anonymous, "requester-pays": &s.RequesterPays}
	values := map[string]*string{"endpoint": &s.Endpoint, "region": &s.Region, "profile": &s.Profile}
	for word := range strings.SplitSeq(text, ",") {
		name, value, given := strings.Cut(strings.TrimSpace(word), "=")
		switch {
		case name == "" && !given:
		case switches[name] != nil && !given:
			*switches[name] = true
		case values[name] != nil && value != "":
			*values[name] = value
		default:
			return s, fmt.Errorf("invalid setting %q: want endpoint=URL, region=NAME, profile=NAME, path-style, anonymous or requester-pays, separated by commas", name)
		}
	}
	_, _, err = s.host()
	return s, err
}

// Of returns the settings of a configuration. Settings that the
// configuration leaves out come from the settings of the AWS tools in the
// environment.
func Of(c connect.S3, env func(string) string) (Settings, error) {
	s, _ := Parse("", env) // an error of the endpoint in the environment does not matter if the configuration has an endpoint
	s.Endpoint, s.Region, s.Profile = cmp.Or(c.Endpoint, s.Endpoint), cmp.Or(c.Region, s.Region), c.Profile
	s.PathStyle, s.Anonymous, s.RequesterPays = c.PathStyle, c.Anonymous, c.RequesterPays
	_, _, err := s.host()
	return s, err
}

// Connect finds the credentials for c and returns its store, which logs to log. It
// sends no request to the store.
func Connect(c connect.S3, env func(string) string, log *slog.Logger) (*objects.Store, error) {
	s, err := Of(c, env)
	if err != nil {
		return nil, err
	}
	client, err := New(s)
	if err != nil {
		return nil, err
	}
	store := objects.NewStore(client)
	if log != nil {
		store.Log = log
	}
	return store, nil
}

// host returns the host of the endpoint, and whether connections to it use TLS.
func (s *Settings) host() (host string, secure bool, err error) {
	if s.Endpoint == "" {
		return "s3.amazonaws.com", true, nil
	}
	u, err := url.Parse(s.Endpoint)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "", false, errors.New("invalid endpoint: want a URL such as https://minio.example:9000")
	case u.User != nil:
		return "", false, errors.New("the endpoint must not contain a user or password: use the environment or a profile")
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return "", false, errors.New("the endpoint must not contain a path or query")
	}
	return u.Host, u.Scheme == "https", nil
}

// metadataTime limits a request to the metadata service of an instance, which
// does not answer on other machines.
const metadataTime = 2 * time.Second

// credentials finds the credentials: in the environment, of a profile, of a web
// identity, of a container, or of an instance.
func (s *Settings) credentials(env func(string) string) (*credentials.Credentials, error) {
	if s.Anonymous {
		return credentials.NewStatic("", "", "", credentials.SignatureAnonymous), nil
	}
	profile := cmp.Or(s.Profile, env("AWS_PROFILE"))
	files := &credentials.FileAWSCredentials{Profile: profile}
	chain := []credentials.Provider{files}
	if s.Profile == "" {
		chain = []credentials.Provider{&credentials.EnvAWS{}, files}
	}
	remote := env("AWS_WEB_IDENTITY_TOKEN_FILE")+env("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")+env("AWS_CONTAINER_CREDENTIALS_FULL_URI") != ""
	switch {
	case profile != "": // the user has chosen a profile, so do not use another identity
	case remote:
		chain = append(chain, &credentials.IAM{Client: &http.Client{Timeout: time.Minute}})
	case !strings.EqualFold(env("AWS_EC2_METADATA_DISABLED"), "true"):
		transport := &http.Transport{DialContext: (&net.Dialer{Timeout: metadataTime}).DialContext, ResponseHeaderTimeout: metadataTime}
		chain = append(chain, &credentials.IAM{Client: &http.Client{Transport: transport}})
	}
	found := credentials.NewChainCredentials(chain)
	v, err := found.GetWithContext(nil)
	switch {
	case err == nil && v.AccessKeyID != "":
		return found, nil
	case profile != "":
		return nil, fmt.Errorf("profile %q has no usable credentials: check the name and the keys of the profile; if it has role_arn, which urlfold does not use, run 'aws configure export-credentials --profile %s --format env', set the variables that this command prints, and name no profile", profile, profile)
	}
	return nil, errors.New("no credentials found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or use --s3 anonymous (in a configuration anonymous: true) for a public bucket")
}

// env returns a variable of the environment.
func env(name string) string { return os.Getenv(name) }
