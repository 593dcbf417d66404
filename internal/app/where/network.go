package where

import (
	"fmt"
	"net/netip"
	"unsafe"

	"github.com/urlfold/urlfold/internal/record"
)

// parseNetwork parses a network such as 192.0.2.0/24, or an address.
func parseNetwork(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	net, err := netip.ParsePrefix(text)
	if err != nil {
		return net, fmt.Errorf(`invalid network %q: must be an address and a number of bits such as "192.0.2.0/24", or a list in brackets`, text)
	}
	if net != net.Masked() {
		return net, fmt.Errorf("invalid network %q: its address has bits beyond the first %d: write %q", text, net.Bits(), net.Masked())
	}
	return net, nil
}

// inNetworks returns the condition that a field is an address in one of the networks, or
// one of the values.
func inNetworks(field int, nets []netip.Prefix, values map[string]bool) predicate {
	return func(v *record.View) bool {
		t, ok := v.Field(field)
		if !ok {
			return false
		}
		if addr, ok := addressOf(t); ok {
			for _, net := range nets {
				if net.Contains(addr) {
					return true
				}
			}
		}
		return values[string(t)]
	}
}

// addressOf returns the address that t spells, without its zone. It does not
// allocate, except for texts that look like an address and are not.
func addressOf(t []byte) (addr netip.Addr, ok bool) {
	mark := false
	for _, c := range t {
		isHex := c-'0' <= 9 || c|0x20-'a' <= 5
		if mark = mark || c == '.' || c == ':'; c == '%' && mark {
			break
		}
		if !isHex && c != '.' && c != ':' {
			return addr, false
		}
	}
	if !mark {
		return addr, false
	}
	addr, err := netip.ParseAddr(unsafe.String(unsafe.SliceData(t), len(t))) // nothing retains the text
	return addr.WithZone(""), err == nil
}
