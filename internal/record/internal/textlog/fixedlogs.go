package textlog

import (
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// FixedLogs describes the text logs of load balancers, proxies and application
// servers. Each is also a line of the table formats.Builtin, and a section of
// docs/reference/access-logs.md.
var FixedLogs = []FixedLog{
	{
		ID:        "aws-alb",
		Product:   "AWS Application Load Balancer",
		Reference: "https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-access-logs.html",
		layouts: []string{
			`kind time - client:port - +seconds +seconds +seconds status - - bytes "request" | "agent" - - - "id" "sni"`,
		},
		URL:     "the request, an absolute URL with its port",
		Escapes: "`\\xHH`",
		dialect: locate.NginxDialect,
		Sample: `https 2018-07-02T22:23:00.186641Z app/my-loadbalancer/50dc6c495c0c9188 192.168.131.39:2817 10.0.0.1:80 0.086 0.048 0.037 200 200 0 57 ` +
			`"GET https://www.example.com:443/ HTTP/1.1" "curl/7.46.0" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 ` +
			`arn:aws:elasticloadbalancing:us-east-2:123456789012:targetgroup/my-targets/73e2d6bc24d8a067 "Root=1-58337281-1d84f3d73c47ec4e58577259" "www.example.com" ` +
			`"arn:aws:acm:us-east-2:123456789012:certificate/12345678-1234-1234-1234-123456789012" 1 2018-07-02T22:22:48.364000Z "authenticate,forward" "-" "-" ` +
			`"10.0.0.1:80" "200" "-" "-" TID_1234abcd5678ef90 "-" "-" "-"`,
	},
	{
		ID:        "aws-elb",
		Product:   "AWS Classic Load Balancer",
		Reference: "https://docs.aws.amazon.com/elasticloadbalancing/latest/classic/access-log-collection.html",
		layouts: []string{
			`time - client:port - +seconds +seconds +seconds status - - bytes "request" | "agent" - -`,
		},
		URL:     "the request, an absolute URL with its port",
		Escapes: "`\\xHH`",
		dialect: locate.NginxDialect,
		Sample: `2015-05-13T23:39:43.945958Z my-loadbalancer 192.168.131.39:2817 10.0.0.1:80 0.000086 0.001048 0.001337 200 200 0 57 ` +
			`"GET https://www.example.com:443/ HTTP/1.1" "curl/7.38.0" DHE-RSA-AES128-SHA TLSv1.2`,
	},
	{
		ID:        "aws-s3",
		Product:   "Amazon S3 server access log",
		Reference: "https://docs.aws.amazon.com/AmazonS3/latest/userguide/LogFormat.html",
		layouts: []string{
			`- - [clf-time] client - id operation - "request" status | - bytes - ms - "referer" "agent"last - - - - - host tls`,
		},
		URL:     "the Request-URI, on the host of the field Host Header; the referer",
		Escapes: "none",
		Sample: `79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be amzn-s3-demo-bucket1 [06/Feb/2019:00:00:38 +0000] 192.0.2.3 ` +
			`79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be 3E57427F3EXAMPLE REST.GET.VERSIONING - ` +
			`"GET /amzn-s3-demo-bucket1?versioning HTTP/1.1" 200 - 113 - 7 - "-" "S3Console/0.4" - ` +
			`s9lzHYrFp76ZVxRcpX9+5cjAnEH2ROuNkd2BHfIa6UkFVdtjf5mKR3/eTPFvsiP/XV/VLi31234= SigV4 ECDHE-RSA-AES128-GCM-SHA256 AuthHeader ` +
			`amzn-s3-demo-bucket1.s3.us-west-1.amazonaws.com TLSV1.2 arn:aws:s3:us-west-1:123456789012:accesspoint/example-AP Yes us-east-1`,
	},
	{
		ID:        "haproxy",
		Product:   "HAProxy, option httplog or httpslog",
		Reference: "https://docs.haproxy.org/3.2/configuration.html#8.2.3",
		layouts: []string{
			`… client:port [clf-time] frontend - timers status bytes {headers} "request" | - sni/tls/cipher`,
		},
		URL:     "the request, on the first host name among the captured headers, else on the TLS server name",
		Escapes: "`#HH`",
		dialect: locate.HashDialect,
		Cuts:    true,
		event:   isHAProxyEvent,
		Sample: `Feb  6 12:14:14 localhost haproxy[14389]: 10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- ` +
			`1/1/1/1/0 0/0 {haproxy.example.org} {} "GET /index.html HTTP/1.1"`,
	},
	{
		ID:        "squid",
		Product:   "Squid, logformat squid",
		Reference: "https://www.squid-cache.org/Doc/config/logformat/",
		layouts: []string{
			`epoch ms client result/status bytes method url - peer/host | -`,
		},
		URL:     "the URL; none for CONNECT",
		Escapes: "none",
		strips:  true,
		Sample:  `1066036250.603    310 192.0.0.196 TCP_MISS/200 1869 GET http://www.example.com/index.html - HIER_DIRECT/192.0.2.80 text/html`,
	},
	{
		ID:        "envoy",
		Product:   "Envoy, default format string",
		Reference: "https://www.envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage#default-format-string",
		layouts: []string{
			`… [time] "request" status - number bytes ms | - "forwarded" "agent" "id" "host" "-"`,
		},
		URL:     "the request, on the host of `:authority`",
		Escapes: "none",
		Sample:  `[2016-04-15T20:17:00.310Z] "POST /api/v1/locations HTTP/2" 204 - 154 0 226 100 "10.0.35.28" "nsq2http" "cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2" "locations.example.com" "tcp://10.0.2.1:80"`,
	},
	{
		ID:        "istio",
		Product:   "Istio, default format string",
		Reference: "https://istio.io/latest/docs/tasks/observability/logs/access-log/#default-access-log-format",
		layouts: []string{
			`… [time] "request" status - - - "-" number bytes ms | - "forwarded" "agent" "id" "host" "-" - - - client:port`, // 1.9 and later
			`… [time] "request" status - "-" "-" number bytes ms | - "forwarded" "agent" "id" "host" "-" - - - client:port`, // 1.3 to 1.8
		},
		URL:     "the request, on the host of `:authority`",
		Escapes: "none",
		Sample: `[2020-11-25T21:26:18.409Z] "GET /status/418 HTTP/1.1" 418 - via_upstream - "-" 0 135 3 1 "-" "curl/7.73.0-DEV" "84961386-6d84-929d-98bd-c5aee93b5c88" "httpbin.example.com:8000" ` +
			`"127.0.0.1:80" inbound|8000|| 127.0.0.1:41854 10.44.1.27:80 10.44.1.23:37652 outbound_.8000_._.httpbin.example.com default`,
	},
	{
		ID:        "uwsgi",
		Product:   "uWSGI, request log",
		Reference: "https://uwsgi-docs.readthedocs.io/en/latest/LogFormat.html",
		layouts: []string{
			"…[pid: [pid: - - - client - - - - - - [date] method url… => - bytes - - took - status) | -",
		},
		URL:     "the request, on the host that the option `vhost` writes before it",
		Escapes: "none",
		Sample: `[pid: 12475|app: 0|req: 1/1] 192.0.2.7 () {34 vars in 617 bytes} [Sun Mar 13 22:49:12 2016] GET /a?b=c => generated 215 bytes in 68 msecs ` +
			`(HTTP/1.1 200) 9 headers in 373 bytes (1 switches on core 8)`,
	},
	{
		ID:        "confluence",
		Product:   "Confluence, access log of Tomcat",
		Reference: "https://confluence.atlassian.com/confkb/audit-confluence-using-the-tomcat-valve-component-223216846.html",
		layouts: []string{
			`[clf-time] - - client request… status 5ms bytes | referer agent…`,
			`[clf-time] forwarded - - client request… status 5ms bytes | referer agent…`, // with X-Forwarded-For
		},
		URL:     "the request; the referer; the log has no host",
		Escapes: "none; `\\\"`, `\\\\` and `\\uHHHH` in the referer",
		Sample: `[18/Dec/2020:12:57:26 +1100] bob http-nio-8090-exec-6 192.0.2.7 GET /index.html HTTP/1.1 200 1020ms 7881 ` +
			`http://www.example.com/login.action Mozilla/5.0 (X11; Linux x86_64)`,
	},
	{
		ID:        "nginx-proxy-manager",
		Product:   "Nginx Proxy Manager",
		Reference: "https://github.com/NginxProxyManager/nginx-proxy-manager/tree/develop/docker/rootfs/etc/nginx/conf.d/include",
		layouts: []string{
			`[clf-time] - list status - method scheme host "url" | […client] […bytes] [-] [-] "agent" "referer"`, // proxy hosts
			`[clf-time] status - method scheme host "url" | […client] […bytes] [-] "agent" "referer"`,            // redirections and dead hosts
		},
		URL:     "the request, on the host that it names; the referer",
		Escapes: "`\\xHH`",
		dialect: locate.NginxDialect,
		Sample: `[01/Oct/2025:14:32:15 +0000] HIT 200 200 - GET https www.example.com "/api/users" [Client 192.0.2.100] [Length 1543] [Gzip 2.45] [Sent-to 10.0.0.15] ` +
			`"curl/8.5.0" "https://www.example.com/"`,
	},
}
