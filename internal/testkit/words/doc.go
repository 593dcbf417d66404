// Package words contains tests that check the words of this repository, and no
// other code. TestWords forbids phrases that read like a translation, TestRates
// limits how often the comments and the pages use some others, and TestNames
// compares the names in comments with the code.
package words
