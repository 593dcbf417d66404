// Package textlog reads lines of text: URLs in lines and in prose, and the logs of servers,
// load balancers, proxies and firewalls.
//
// # Files
//
//	lines.go, prose.go                     a URL in each line; URLs in prose
//	anylog.go, anylogpages.go              any line with a request or a URL
//	log.go, logclient.go, requestscan.go,  common and combined logs
//	requestclean.go
//	layout.go, layouttext.go,              layouts of nginx, Apache, HAProxy and Squid
//	directives.go, layoutproxies.go
//	fixed.go, fixedlayout.go,              logs with a fixed order of fields
//	fixedlogs.go, fixedcheck.go
//	w3c.go, zeek.go                        logs with a header
//	logfmt.go, ltsv.go, cef.go, named.go,  fields with names
//	namedform.go
package textlog
