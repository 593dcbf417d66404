// Package endtoend contains only tests. They run the real program in separate
// processes between brokers, kill and scale it, and count the delivered
// records.
package endtoend
