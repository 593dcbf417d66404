package jsonlines

import (
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// Log describes a format whose records are JSON objects with fields of known
// names. Names are in the syntax of Config.URLField. Spaces separate
// alternatives, of which the first field with a value is used.
type Log struct {
	ID string
	// Landmarks are lists of fields. A record must have a field of each list.
	Landmarks []string
	// Wrapped is the name of the member that holds an array of records, if the
	// format can have several of them in one line.
	Wrapped string
	// plain is set if the scheme is http unless the record says otherwise.
	plain bool
	// whole is set if a field with the use UseURL holds a URL that may lack its
	// scheme.
	whole bool
	// foreign is text that occurs only in queries that the server made up. Such
	// a query does not belong to the URL.
	foreign string
	parts   string // see Parts
	// About says where the log comes from, Doc is the address of its reference,
	// and Note says what a reader of the documentation must know besides.
	About, Doc, Note string
}

// Parts returns the fields that may hold parts of the request.
func (j *Log) Parts() []locate.Named { return locate.ParseNames(j.parts, nil) }

// Logs holds the formats in the order in which they are listed. In detection,
// the first of several fitting formats wins, so formats with fewer landmarks
// are last.
var Logs = []Log{
	{
		ID: "caddy", About: "Caddy's access log", Doc: "https://caddyserver.com/docs/logging",
		Note:      "A member `request.tls` means that the scheme is https. Lines of other loggers have no URL and pass through. Of several headers with one name, the first one counts.",
		Landmarks: []string{"request.method", "request.uri", "request.proto"},
		parts: `
			target       request.uri
			host         request.host
			tls          request.tls
			method       request.method
			referer      request.headers.Referer[0]
			time         ts
			status       status
			bytes        size
			duration     duration
			client       request.client_ip request.remote_ip request.remote_addr
			agent        request.headers.User-Agent[0]
			request_id   uuid request.headers.X-Request-Id[0]`,
	},
	{
		ID: "traefik", About: "Traefik's access log with `format: json`", Doc: "https://doc.traefik.io/traefik/observability/access-logs/",
		Note:      "Traefik logs the headers only if its configuration keeps them. The fields `RequestAddr` and `RequestLine` of older versions repeat parts of the URL; `rewrite` leaves them as they are.",
		Landmarks: []string{"RequestPath", "RequestMethod RequestHost RequestAddr"},
		parts: `
			target       RequestPath
			scheme       RequestScheme
			host         RequestHost RequestAddr
			port         RequestPort
			method       RequestMethod
			referer      request_Referer
			time         StartUTC StartLocal time
			status       DownstreamStatus
			bytes        DownstreamContentSize
			duration:ns  Duration
			client       ClientHost ClientAddr
			agent        request_User-Agent
			request_id   request_X-Request-Id TraceId`,
	},
	{
		ID: "envoy-json", About: "JSON access logs of Envoy, Istio and Envoy Gateway", Doc: "https://www.envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage",
		Note:      "The names of the fields are up to the configuration of Envoy. These are the names of Istio, Envoy Gateway, and the documentation of Envoy.",
		Landmarks: []string{"response_flags downstream_remote_address upstream_host upstream_cluster", "x_envoy_original_path x-envoy-original-path x_envoy_origin_path x-envoy-origin-path path :path", "method :method"},
		parts: `
			target       x_envoy_original_path x-envoy-original-path x_envoy_origin_path x-envoy-origin-path path :path
			scheme       scheme :scheme x_forwarded_proto x-forwarded-proto
			host         authority :authority
			method       method :method
			referer      referer referrer
			time         start_time timestamp
			status       response_code status
			bytes        bytes_sent
			duration:ms  duration
			client       x_forwarded_for x-forwarded-for downstream_remote_address
			agent        user_agent user-agent
			request_id   request_id x_request_id x-request-id`,
	},
	{
		ID: "gcp-lb", About: "request logs of Google Cloud load balancers", Doc: "https://cloud.google.com/load-balancing/docs/https/https-logging-monitoring",
		Note:      "Records of other services pass through without a URL, unless they have the field `httpRequest.requestUrl`.",
		Landmarks: []string{"httpRequest.requestUrl", "httpRequest.requestMethod"},
		parts: `
			target       httpRequest.requestUrl
			method       httpRequest.requestMethod
			referer      httpRequest.referer
			time         timestamp
			status       httpRequest.status
			bytes        httpRequest.responseSize
			duration:stated httpRequest.latency
			client       httpRequest.remoteIp
			agent        httpRequest.userAgent
			request_id   insertId`,
	},
	{
		ID: "azure-front-door", About: "access logs of Azure Front Door and of Azure CDN from Microsoft", Doc: "https://learn.microsoft.com/azure/frontdoor/monitor-front-door-reference",
		Note:      "Records of other categories pass through without a URL.",
		Landmarks: []string{"properties.requestUri", "properties.trackingReference"},
		Wrapped:   "records",
		parts: `
			target       properties.requestUri
			host         properties.hostName
			method       properties.httpMethod
			referer      properties.referer properties.referrer
			time         time
			status       properties.httpStatusCode
			bytes        properties.responseBytes
			duration     properties.timeTaken
			client       properties.clientIp
			agent        properties.userAgent
			request_id   properties.trackingReference`,
	},
	{
		ID: "azure-app-gateway", About: "access logs of Azure Application Gateway, v1 and v2", Doc: "https://learn.microsoft.com/azure/application-gateway/monitor-application-gateway-reference",
		Note:      "`originalRequestUriWithArgs` is the target before the gateway rewrites it; older records lack it. `requestQuery` of v1 gateways holds routing data, which starts with `X-AzureApplicationGateway-`; urlfold ignores that. The record does not tell the scheme, so set it with `--base https://{host}/`. `timeTaken` is in milliseconds without a decimal point, as in v1, and in seconds otherwise.",
		Landmarks: []string{"properties.requestUri", "properties.httpMethod", "properties.httpStatus"},
		Wrapped:   "records",
		foreign:   "X-AzureApplicationGateway-",
		parts: `
			target       properties.originalRequestUriWithArgs
			path         properties.requestUri
			query        properties.requestQuery
			host         properties.originalHost properties.host properties.hostname
			method       properties.httpMethod
			time         timeStamp time timestamp
			status       properties.httpStatus
			bytes        properties.sentBytes
			duration:ms-unless-decimal properties.timeTaken
			client       properties.clientIP
			agent        properties.userAgent
			request_id   properties.transactionId`,
	},
	{
		ID: "cloudflare", About: "HTTP requests and firewall events of Cloudflare Logpush", Doc: "https://developers.cloudflare.com/logs/logpush/logpush-job/datasets/zone/http_requests/",
		Note:      "The Logpush job selects the fields. Without `ClientRequestURI`, the path is `ClientRequestPath` and the query is `ClientRequestQuery`, which only firewall events have. Logpush has no field for the duration of a request.",
		Landmarks: []string{"ClientRequestURI ClientRequestPath", "ClientRequestHost RayID EdgeStartTimestamp"},
		parts: `
			target       ClientRequestURI
			path         ClientRequestPath
			query        ClientRequestQuery
			scheme       ClientRequestScheme
			host         ClientRequestHost
			method       ClientRequestMethod
			referer      ClientRequestReferer
			time         EdgeStartTimestamp Datetime
			status       EdgeResponseStatus
			bytes        EdgeResponseBytes
			client       ClientIP
			agent        ClientRequestUserAgent
			request_id   RayID`,
	},
	{
		ID: "suricata-eve", About: "Suricata's eve.json", Doc: "https://docs.suricata.io/en/latest/output/eve/eve-json-format.html",
		Note:      "Events of other types pass through without a URL. The scheme is http, because Suricata sees only decrypted traffic.",
		Landmarks: []string{"event_type", "timestamp", "src_ip"},
		plain:     true,
		parts: `
			target       http.url
			host         http.hostname
			port         http.http_port
			method       http.http_method
			referer      http.http_refer
			time         timestamp
			status       http.status
			bytes        http.length
			client       src_ip
			agent        http.http_user_agent
			request_id   flow_id`,
	},
	{
		ID: "zeek-json", About: "Zeek's http.log in JSON", Doc: "https://docs.zeek.org/en/master/logs/http.html",
		Note:      "Zeek percent-decodes `uri`. The scheme is http. Zeek up to 4.0 removes the port from `host`.",
		Landmarks: []string{`"id.orig_h" id.orig_h id_orig_h`, "trans_depth"},
		plain:     true,
		parts: `
			target       uri
			host         host
			method       method
			referer      referrer
			time         ts
			status       status_code
			bytes        response_body_len
			client       "id.orig_h" id.orig_h id_orig_h
			agent        user_agent
			request_id   uid`,
	},
	{
		ID: "aws-waf", About: "AWS WAF's log of web ACL traffic", Doc: "https://docs.aws.amazon.com/waf/latest/developerguide/logging-fields.html", // read 2026-11-29
		Note:      "Older records lack `httpRequest.host`; the header `Host` replaces it.",
		Landmarks: []string{"webaclId", "httpRequest.uri", "httpRequest.httpMethod"},
		parts: `
			path         httpRequest.uri
			query        httpRequest.args
			scheme       httpRequest.scheme
			host         httpRequest.host httpRequest.headers[=Host]
			method       httpRequest.httpMethod
			referer      httpRequest.headers[=Referer]
			time         timestamp
			status       responseCodeSent
			client       httpRequest.clientIp
			agent        httpRequest.headers[=User-Agent]
			request_id   httpRequest.requestId`,
	},
	{
		ID: "cloudfront-json", About: "CloudFront's standard logs (v2) and real-time logs in JSON", Doc: "https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/standard-logging.html", // read 2026-11-29
		Note:      "The delivery selects the fields. The site is `x-host-header` in standard logs and `cs-host` in real-time logs, whose `x-host-header` is the distribution. `date` and `time`, which are apart, are not read as the time.",
		Landmarks: []string{"cs-uri-stem", "cs-method sc-status", "x-edge-location x-edge-request-id x-edge-result-type cs(Host) cs-host x-host-header"},
		parts: `
			path         cs-uri-stem
			query        cs-uri-query
			scheme       cs-protocol
			host         cs-host x-host-header cs(Host)
			method       cs-method
			referer      cs(Referer) cs-referer
			time         timestamp timestamp(ms)
			status       sc-status
			bytes        sc-bytes
			duration     time-taken
			client       c-ip
			agent        cs(User-Agent) cs-user-agent
			request_id   x-edge-request-id`,
	},
	{
		ID: "aws-cloudtrail", About: "events of AWS CloudTrail", Doc: "https://docs.aws.amazon.com/awscloudtrail/latest/userguide/cloudtrail-event-reference-record-contents.html", // read 2026-11-29
		Note:      "Only sign-ins to the console have a URL: the page that follows.",
		Landmarks: []string{"eventSource", "eventName", "awsRegion", "eventTime"},
		parts: `
			target       additionalEventData.LoginTo
			time         eventTime
			client       sourceIPAddress
			agent        userAgent
			request_id   requestID eventID`,
	},
	{
		ID: "akamai-datastream", About: "Akamai DataStream 2 in JSON", Doc: "https://techdocs.akamai.com/datastream2/docs/data-set-parameters", // read 2026-11-29
		Note:      "The stream selects the fields. Akamai percent-encodes `UA` and the whole of `referer`, so urlfold does not read the referer as a URL.",
		Landmarks: []string{"reqPath", "reqHost cliIP", "reqTimeSec reqId cp streamId"},
		parts: `
			path         reqPath
			query        queryStr
			host         reqHost
			port         reqPort
			method       reqMethod
			time         reqTimeSec
			status       statusCode
			bytes        bytes totalBytes
			duration:ms  transferTimeMSec
			client       cliIP
			agent        UA
			request_id   reqId`,
	},
	{
		ID: "akamai-siem", About: "security events of Akamai's SIEM integration", Doc: "https://techdocs.akamai.com/siem-integration/reference/api", // read 2026-11-29
		Note:      "The offset at the end of an answer passes through without a URL. `requestHeaders` is one percent-encoded text, so the referer and the agent are not read.",
		Landmarks: []string{"httpMessage.path", "httpMessage.host", "attackData.configId attackData.policyId attackData.clientIP"},
		parts: `
			path         httpMessage.path
			query        httpMessage.query
			host         httpMessage.host
			port         httpMessage.port
			method       httpMessage.method
			time         httpMessage.start
			status       httpMessage.status
			bytes        httpMessage.bytes
			client       attackData.clientIP
			request_id   httpMessage.requestId`,
	},
	{
		ID: "azure-storage", About: "resource logs of Azure Storage", Doc: "https://learn.microsoft.com/azure/storage/blobs/monitor-blob-storage-reference", // read 2026-11-29
		Note:      "Records of other categories pass through without a URL.",
		Landmarks: []string{"uri", "operationName", "callerIpAddress", "properties.accountName properties.serviceType"},
		Wrapped:   "records",
		parts: `
			target       uri
			referer      properties.referrerHeader
			time         time
			status       statusCode
			bytes        properties.responseBodySize
			duration:ms  durationMs
			client       callerIpAddress
			agent        properties.userAgentHeader
			request_id   correlationId`,
	},
	{
		ID: "azure-key-vault", About: "audit events of Azure Key Vault", Doc: "https://learn.microsoft.com/azure/key-vault/general/logging", // read 2026-11-29
		Note:      "Records of other categories pass through without a URL.",
		Landmarks: []string{"properties.requestUri", "operationName", "callerIpAddress"},
		Wrapped:   "records",
		parts: `
			target       properties.requestUri
			time         time
			status       properties.httpStatusCode
			duration:ms  durationMs
			client       callerIpAddress
			agent        properties.clientInfo
			request_id   correlationId`,
	},
	{
		ID: "kubernetes-audit", About: "audit events of the Kubernetes API server", Doc: "https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/", // read 2026-11-29
		Note:      "The record does not name the server: set it with `--base`. `verb` is an action of Kubernetes, not the method of the request.",
		Landmarks: []string{"requestURI", "verb", "auditID"},
		parts: `
			target       requestURI
			time         requestReceivedTimestamp
			status       responseStatus.code
			client       sourceIPs[0]
			agent        userAgent
			request_id   auditID`,
	},
	{
		ID: "cloudflare-gateway", About: "HTTP requests of Cloudflare Gateway, by Logpush", Doc: "https://developers.cloudflare.com/logs/logpush/logpush-job/datasets/account/gateway_http/", // read 2026-11-29
		Note:      "The Logpush job selects the fields.",
		Landmarks: []string{"URL", "HTTPMethod HTTPHost", "SourceIP DeviceID PolicyID Datetime"},
		parts: `
			target       URL
			method       HTTPMethod
			referer      Referer
			time         Datetime
			status       HTTPStatusCode
			client       SourceIP
			agent        UserAgent
			request_id   RequestID`,
	},
	{
		ID: "zscaler", About: "web logs of Zscaler's Nanolog Streaming Service in JSON", Doc: "https://help.zscaler.com/zia/nss-feed-output-format-web-logs", // read 2026-11-29
		Note:      "The names of the fields are up to the feed; these are the usual ones. Zscaler writes URLs without a scheme.",
		Landmarks: []string{"event.url", "event.requestmethod event.reqmethod event.hostname", "event.urlcategory event.serverip event.ClientIP event.urlclass"},
		whole:     true,
		parts: `
			url          event.url
			method       event.requestmethod event.reqmethod
			time         event.datetime event.time
			status       event.status event.respcode
			bytes        event.responsesize event.respsize
			client       event.ClientIP
			agent        event.useragent
			request_id   event.event_id event.recordid`,
	},
	{
		ID: "paloalto-url", About: "URL logs of Palo Alto Networks, by log forwarding in JSON", Doc: "https://docs.paloaltonetworks.com/cortex/cortex-data-lake/cortex-data-lake-getting-started/get-started-with-log-forwarding-app/forward-logs-to-an-https-server", // read 2026-11-29
		Note:      "The firewall writes URLs without a scheme.",
		Landmarks: []string{"event.URL URL", "event.LogType LogType", "event.SourceAddress SourceAddress"},
		whole:     true,
		parts: `
			url          event.URL URL
			method       event.HTTPMethod HTTPMethod
			time         event.TimeGenerated TimeGenerated
			client       event.SourceAddress SourceAddress`,
	},
	{
		ID: "modsecurity-json", About: "audit logs of ModSecurity 3 and Coraza in JSON", Doc: "https://github.com/owasp-modsecurity/ModSecurity/wiki/Reference-Manual-(v3.x)", // read 2026-11-29
		Note:      "ModSecurity writes a header as a text, Coraza as an array. `time_stamp` of ModSecurity is not read as the time.",
		Landmarks: []string{"transaction.request.uri", "transaction.client_ip"},
		parts: `
			target       transaction.request.uri
			host         transaction.request.headers.Host transaction.request.headers.host transaction.request.headers.Host[0] transaction.request.headers.host[0] transaction.request.hostname
			method       transaction.request.method
			referer      transaction.request.headers.Referer transaction.request.headers.referer transaction.request.headers.Referer[0] transaction.request.headers.referer[0]
			time         transaction.unix_timestamp
			status       transaction.response.http_code transaction.response.status
			client       transaction.client_ip
			agent        transaction.request.headers.User-Agent transaction.request.headers.user-agent transaction.request.headers.User-Agent[0] transaction.request.headers.user-agent[0]
			request_id   transaction.unique_id transaction.id`,
	},
	{
		ID: "har", About: "the entries of an HTTP archive (HAR 1.2)", Doc: "https://github.com/ahmadnassri/har-spec/blob/master/versions/1.2.md", // read 2026-11-29
		Note:      "URLs without a request, such as `data:` and `blob:`, are not read.",
		Landmarks: []string{"request.url", "request.method", "startedDateTime"},
		parts: `
			target       request.url
			method       request.method
			referer      request.headers[=Referer]
			time         startedDateTime
			status       response.status
			bytes        response.content.size
			duration:ms  time
			agent        request.headers[=User-Agent]`,
	},
	{
		ID: "vercel", About: "log drains of Vercel", Doc: "https://vercel.com/docs/drains/reference/logs", // read 2026-11-30
		Note:      "Only the members of `proxy` say what the client requested: `path` and `host` outside it describe the function. Records of builds pass through.",
		Landmarks: []string{"proxy.path", "proxy.host", "deploymentId projectId"},
		parts: `
			target       proxy.path
			scheme       proxy.scheme
			host         proxy.host
			method       proxy.method
			referer      proxy.referer
			time         proxy.timestamp
			status       proxy.statusCode
			client       proxy.clientIp
			agent        proxy.userAgent[0]
			request_id   requestId id`,
	},
	{
		ID: "nginx-json", About: "nginx logs with `escape=json` and the usual names", Doc: "https://nginx.org/en/docs/http/ngx_http_log_module.html#log_format",
		Note:      "The names of the fields are up to the `log_format`. These are the names of the usual layouts, and other servers that use them are read too. A `request` that is only a method, as in logs of Fastly, or only a request target is read as such. `uri` is percent-decoded by nginx, so it is the last choice. Only one of the fields with the URL is rewritten.",
		Landmarks: []string{"request_uri request request_line http_request uri url path", "status response_status response_code code", "remote_addr remote_ip client_ip clientip client remote ip http_x_forwarded_for x_forwarded_for"},
		parts: `
			target       request_uri
			request      request request_line http_request
			path         uri url path request_path
			query        args query_string query request_query
			scheme       scheme request_scheme http_x_forwarded_proto
			tls          https is_tls
			host         http_host host vhost domain domainName server_name
			port         server_port
			method       request_method method http_method httpMethod verb
			referer      http_referer http_referrer referer referrer request_referer
			time         time_iso8601 msec time_local time timestamp @timestamp ts date time_start requestTime
			status       status response_status response_code code
			bytes        body_bytes_sent bytes_sent bytes size length bytes_out written_bytes response_body_size responseLength
			duration     request_time duration responsetime response_time
			client       remote_addr remote_ip client_ip clientip client remote ip
			agent        http_user_agent user_agent agent useragent request_user_agent ua
			request_id   request_id req_id http_x_request_id requestId`,
	},
	{
		ID: "apache-json", About: "Apache logs as the parsers of Fluentd, Fluent Bit and Vector write them", Doc: "https://docs.fluentd.org/parser/apache2", // read 2026-11-30
		Note:      "The field `host` is the client, so the records do not name the host of the URL: use `--base`. Logs of nginx from these programs name the client differently and are `nginx-json`.",
		Landmarks: []string{"path", "method", "host", "size", "code status", "code message"},
		parts: `
			target       path
			method       method
			referer      referer referrer
			time         time timestamp @timestamp date
			status       code status
			bytes        size
			client       host
			agent        agent`,
	},
}
