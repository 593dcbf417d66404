// Package logreport describes a run for people: one page of HTML that needs nothing
// else, Markdown, or JSON.
//
//	report.go  the model, which is also the JSON
//	chart.go   bars, axes and lines of the page
//	html.go    the page
//	text.go    Markdown
package logreport
