package config

import (
	"math/bits"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/config/field"
)

// Shadow configures the comparison with a second profile.
// Not covered by the stability page.
type Shadow struct {
	// The second profile: the name of a built-in profile, or a YAML file.
	Profile string `yaml:"profile,required" min:"1"`
	// The level of the second keys. Default: the level in the second profile.
	Key string `yaml:"key" enum:"syntax,equivalent,fetch,page,match,shape"`
	// Count one key in this number of keys, chosen by its hash. 1 counts all keys. A
	// power of two. Default: 64.
	OneIn int `yaml:"one_in" min:"1" max:"65536"`
	// The memory for counting. When it is full, half of the chosen keys are
	// dropped, and the counts remain exact for the others. Default: 32MiB.
	Memory field.Size `yaml:"memory" min:"1MiB" max:"64GiB"`

	profile codec.Profile
	policy  *codec.Policy
}

// Validate checks that the share is a power of two.
func (s *Shadow) Validate() error {
	if s.OneIn > 0 && bits.OnesCount(uint(s.OneIn)) != 1 {
		return field.Wrong("one_in", "must be a power of two, such as 1 or 64")
	}
	return nil
}

// Resolve returns the profile and the policy for its keys.
func (s *Shadow) Resolve() (codec.Profile, *codec.Policy) { return s.profile, s.policy }

// resolveShadow sets the profile of the section and records the errors in it.
func (d *decoder) resolveShadow(s *Shadow) {
	if s == nil || s.Profile == "" {
		return
	}
	s.profile, s.policy, _ = d.resolveProfile(s.Profile, "shadow.profile")
	if !d.broken["shadow.profile"] {
		d.checkProfile(s.profile, s.policy, "shadow.profile")
	}
}
