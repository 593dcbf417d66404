module github.com/urlfold/urlfold/bench

go 1.26.0

replace github.com/urlfold/urlfold => ../

require (
	github.com/PuerkitoBio/purell v1.2.1
	github.com/klauspost/compress v1.20.3
	github.com/nlnwa/whatwg-url v0.6.2
)

require (
	github.com/bits-and-blooms/bitset v1.20.0 // indirect
	golang.org/x/net v0.34.0 // indirect
	golang.org/x/text v0.21.0 // indirect
)
