// Package record reads and writes records that contain URLs: lines of logs, JSON
// objects, rows of tables, documents.
package record

import "github.com/urlfold/urlfold/internal/record"

// The contract of record formats that are defined outside this module.
type (
	// Format opens Readers for one record format.
	Format = record.Format
	// Config selects how records are read.
	Config = record.Config
	// Reader splits a stream into records and creates Locators.
	Reader = record.Reader
	// Locator finds the URLs in records.
	Locator = record.Locator
	// Found holds what a Locator finds in a record.
	Found = record.Found
	// Position identifies a record in its stream.
	Position = record.Position
	// Reason says why a record was rejected.
	Reason = record.Reason
	// Sample is the beginning of a stream.
	Sample = record.Sample
	// Fit says how well a format fits a Sample.
	Fit = record.Fit
)

// Unparsed is the Reason of a record that does not match its format.
const Unparsed = record.Unparsed
