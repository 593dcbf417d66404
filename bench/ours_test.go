package bench

// oursWant is what the rows of urlfold give for the URL of TestPeersWork.
var oursWant = map[string]string{}
