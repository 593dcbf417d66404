package where

import (
	"slices"

	"github.com/urlfold/urlfold/internal/ground/needle"
	"github.com/urlfold/urlfold/internal/record"
)

// The list of bots, of 2026-11-29: an agent is a bot if it contains one of botWords, in
// any case, other than in one of notBots. It is made from what programs say about
// themselves. docs/reference/expressions.md compares it with crawler-user-agents.
var (
	botWords = []string{
		// What bots call themselves.
		"bot", "crawl", "spider", "slurp", "scrape", "fetch", "archiv", "index", "scan", "monitor", "uptime", "validator", "checker", "preview",
		"feed", "+http", "research", "survey", "probe", "synthetic", "lighthouse", "headless", "externalhit",
		// Programs that fetch for a person who does not look, and libraries.
		"curl/", "wget", "python", "aiohttp", "httpx", "scrapy", "java/", "jakarta", "okhttp", "apache-httpclient", "go-http-client", "libwww",
		"perl/", "ruby", "php/", "guzzle", "axios", "undici", "httpie", "winhttp", "dart:io", "restsharp", "postman", "insomnia",
		"indy library", "phantomjs", "selenium", "playwright", "puppeteer",
		// Names without these words.
		"mediapartners", "apis-google", "google-inspection", "google-read-aloud", "googleimageproxy", "googleother", "whatsapp", "facebookcatalog", "embedly", "nutch", "heritrix", "httrack", "zgrab",
		"nmap", "nikto", "sqlmap", "zabbix", "nagios", "check_http", "pingdom", "datadog", "newrelic",
		"cloudfront", "yandex.com/", "mj12", "ahrefs", "semrush", "sogou", "ltx71", "virustotal", "bubing", "theoldreader", "genieo",
	}
	notBots = []string{"cubot"} // a maker of phones
)

var bots = needle.NewSet(slices.Concat(notBots, botWords), true)

var agentField = slices.Index(fieldNames, "agent")

// isBot reports whether the agent of the record is a bot.
func isBot(v *record.View) bool {
	agent, ok := v.Field(agentField)
	return ok && isBotName(agent)
}

func isBotName(agent []byte) bool {
	for {
		at, i := bots.Find(agent)
		if at < 0 || i >= len(notBots) {
			return at >= 0
		}
		agent = agent[at+len(notBots[i]):]
	}
}
