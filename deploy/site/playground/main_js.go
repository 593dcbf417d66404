package main

import "syscall/js"

// main gives the page the function urlfold, which takes a request and returns an
// answer, both as JSON.
func main() {
	js.Global().Set("urlfold", js.FuncOf(func(_ js.Value, args []js.Value) any {
		return string(respond([]byte(args[0].String())))
	}))
	js.Global().Call("urlfoldReady")
	select {} // the page may call as long as it is open
}
