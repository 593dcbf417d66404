package cli

import (
	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/ground/suggest"
)

// defaultProfile is the default of --profile.
const defaultProfile = "equiv"

// findProfile returns the built-in profile called name, or the profile in the
// YAML file called name, and its key policy.
func findProfile(name string) (codec.Profile, *codec.Policy, error) {
	if config.IsProfileFile(name) {
		return config.LoadProfile(name)
	}
	i, err := suggest.Index("profile", config.ProfileNames(), name)
	if err != nil {
		return codec.Profile{}, nil, err
	}
	return codec.Profiles()[i], codec.DefaultPolicy(), nil
}
