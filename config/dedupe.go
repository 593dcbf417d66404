package config

import (
	"cmp"
	"errors"

	"github.com/urlfold/urlfold/config/field"
)

// Dedupe drops records that have the same URL as an earlier one. The set of keys
// is stored together with the checkpoints, so a crash loses no record and, with
// exactly_once, lets no duplicate pass.
type Dedupe struct {
	// The output field that is compared. key is the key at codec.key. Default: key.
	By string `yaml:"by" enum:"key,k0,k1,k2,k3,surface,site,template"`
	// The URLs of a record that are compared: all of them, in order, or the first.
	// Default: all.
	KeyOf string `yaml:"key_of" enum:"all,first"`
	// Which record of each key is written. Only first is possible. Default: first.
	Keep string `yaml:"keep"`
	// The records that a record is compared with: all records of the source, or
	// those of the same file. Default: all.
	Scope string `yaml:"scope" enum:"all,lane"`
	// What to do when the stored set does not fit the configuration, for example
	// because the profile, a parameter list or a sink has changed: reset begins with
	// an empty set, refuse rejects the configuration. Default: reset.
	OnChange string `yaml:"on_change" enum:"reset,refuse"`
}

// setDefaults sets the defaults.
func (d *Dedupe) setDefaults() {
	d.By, d.KeyOf, d.Keep, d.Scope, d.OnChange = "key", "all", "first", "all", "reset"
}

// keeps explains why a value of keep is not possible in a daemon.
var keeps = map[string]string{
	"last":  `"last" is not possible in a daemon: whether a record is the last of its key is known only at the end of the input; use urlfold --unique=last`,
	"count": `"count" is not possible in a daemon: the number of records is known only at the end of the input; use urlfold --unique=count`,
	"mark":  `"mark" is not possible in a daemon: the rendered record has no field for it`,
}

// Validate checks keep.
func (d *Dedupe) Validate() error {
	if d.Keep == "first" {
		return nil
	}
	return &field.Error{Field: "keep", Err: errors.New(cmp.Or(keeps[d.Keep], `must be "first"`))}
}
