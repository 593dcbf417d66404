package params

import (
	"slices"
	"strconv"
)

// DefaultVersion is the version of Default.
const DefaultVersion = "2026-11-21"

// defaultParam is a line of the default list. A final '*' makes the name a
// prefix. Names are lower case.
type defaultParam struct{ name, reason string }

// The default list contains names that a vendor has documented or clearly owns,
// that no site uses for content, and without which every page is still the same
// page. It does not contain common words: ref, source, sid, id, s, name,
// campid, customid, cid, spm, tag and similar names have other meanings
// elsewhere, so a rule for them needs a host or a shape.

// clickIDs are the parameters that ClickID recognizes. Their values identify
// one click on an advertisement or a shared link.
var clickIDs = []defaultParam{
	{"gclid", "Google Ads click"},
	{"gbraid", "Google Ads click from an app to the web, aggregated"},
	{"wbraid", "Google Ads click from the web to an app, aggregated"},
	{"dclid", "Google Campaign Manager 360 click"},
	{"srsltid", "Google Merchant Center listing, from organic results"},
	{"fbclid", "Facebook and Instagram, any outgoing link"},
	{"msclkid", "Microsoft Advertising click"},
	{"twclid", "Twitter (X) Ads click"},
	{"ttclid", "TikTok Ads click"},
	{"yclid", "Yandex Direct and Yahoo Japan Ads click"},
	{"ysclid", "Yandex, from organic results"},
	{"ymclid", "Yandex Market click"},
	{"li_fat_id", "LinkedIn first-party ad tracking"},
	{"sccid", "Snapchat Ads click (ScCid)"},
	{"rdt_cid", "Reddit Ads click"},
	{"epik", "Pinterest tag click"},
	{"qclid", "Quora Ads click"},
	{"irclickid", "impact.com click"},
	{"cjevent", "CJ Affiliate click"},
	{"tblci", "Taboola click"},
	{"dicbo", "Outbrain click"},
	{"rb_clickid", "VK Ads (myTarget) click"},
	{"wickedid", "Wicked Reports click"},
	{"igshid", "Instagram share link"},
	{"ransiteid", "Rakuten Advertising click"},
}

// moreParams are the other parameters of the default list.
var moreParams = []defaultParam{
	// Companions of click IDs.
	{"gclsrc", "Google: product that created the gclid"},
	{"gad_source", "Google Ads: network of the click"},
	{"gad_campaignid", "Google Ads: campaign of the click"},
	{"ranmid", "Rakuten Advertising: merchant of a click"},
	{"raneaid", "Rakuten Advertising: publisher of a click"},
	{"ef_id", "Adobe Advertising click and device"},
	{"s_kwcid", "Adobe Advertising keyword"},
	{"_openstat", "Openstat campaign code, base64"},

	// Campaigns.
	{"utm_*", "Google Analytics campaigns, and those of many other tools"},
	{"mtm_*", "Matomo campaigns"},
	{"matomo_campaign", "Matomo campaigns, by the long name"},
	{"matomo_kwd", "Matomo campaigns, by the long name"},
	{"matomo_keyword", "Matomo campaigns, by the long name"},
	{"matomo_source", "Matomo campaigns, by the long name"},
	{"matomo_medium", "Matomo campaigns, by the long name"},
	{"matomo_content", "Matomo campaigns, by the long name"},
	{"matomo_cid", "Matomo campaigns, by the long name"},
	{"matomo_group", "Matomo campaigns, by the long name"},
	{"matomo_placement", "Matomo campaigns, by the long name"},
	{"piwik_campaign", "Matomo campaigns, under its former name Piwik"},
	{"piwik_kwd", "Matomo campaigns, under its former name Piwik"},
	{"piwik_keyword", "Matomo campaigns, under its former name Piwik"},
	{"piwik_source", "Matomo campaigns, under its former name Piwik"},
	{"piwik_medium", "Matomo campaigns, under its former name Piwik"},
	{"piwik_content", "Matomo campaigns, under its former name Piwik"},
	{"piwik_cid", "Matomo campaigns, under its former name Piwik"},
	{"pk_campaign", "Matomo campaigns, by the short name"},
	{"pk_cpn", "Matomo campaigns, by the short name"},
	{"pk_kwd", "Matomo campaigns, by the short name"},
	{"pk_keyword", "Matomo campaigns, by the short name"},
	{"pk_source", "Matomo campaigns, by the short name"},
	{"pk_medium", "Matomo campaigns, by the short name"},
	{"pk_content", "Matomo campaigns, by the short name"},
	{"pk_cid", "Matomo campaigns, by the short name"},
	{"hsa_acc", "HubSpot ads: account"},
	{"hsa_ad", "HubSpot ads: advertisement"},
	{"hsa_cam", "HubSpot ads: campaign"},
	{"hsa_grp", "HubSpot ads: group"},
	{"hsa_kw", "HubSpot ads: keyword"},
	{"hsa_la", "HubSpot ads: LinkedIn"},
	{"hsa_mt", "HubSpot ads: match type"},
	{"hsa_net", "HubSpot ads: network"},
	{"hsa_ol", "HubSpot ads: LinkedIn"},
	{"hsa_src", "HubSpot ads: source"},
	{"hsa_tgt", "HubSpot ads: target"},
	{"hsa_ver", "HubSpot ads: template version"},

	// Visitor IDs across sites, and recipients of mail.
	{"_ga", "Google Analytics linker, older"},
	{"_gl", "Google Analytics linker"},
	{"_hsenc", "HubSpot mail: recipient"},
	{"_hsmi", "HubSpot mail: mailing"},
	{"__hssc", "HubSpot visitor across domains"},
	{"__hstc", "HubSpot visitor across domains"},
	{"__hsfp", "HubSpot visitor across domains"},
	{"hsctatracking", "HubSpot call to action"},
	{"mc_cid", "Mailchimp mailing"},
	{"mc_eid", "Mailchimp recipient"},
	{"_ke", "Klaviyo recipient, older"},
	{"_kx", "Klaviyo recipient"},
	{"_bta_tid", "Bronto mailing"},
	{"_bta_c", "Bronto recipient"},
	{"vero_id", "Vero recipient"},
	{"vero_conv", "Vero conversion"},
	{"oly_anon_id", "Omeda visitor, anonymous"},
	{"oly_enc_id", "Omeda visitor, identified"},
	{"trk_contact", "Listrak recipient"},
	{"trk_msg", "Listrak mailing"},
	{"trk_module", "Listrak part of a mailing"},
	{"trk_sid", "Listrak session"},
	{"wt_mc", "Mapp Intelligence (Webtrekk) campaign"},
	{"wt_zmc", "Mapp Intelligence (Webtrekk) campaign, outside media"},
}

// Default returns the built-in list in a new List: click IDs and the names of
// campaign parameters, for all hosts and without exceptions. It is based on the
// vendors' own documentation and contains no rule of another list.
func Default() *List {
	l := &List{Name: "default", Version: DefaultVersion, Rules: make([]Rule, len(clickIDs)+len(moreParams))}
	for i, p := range slices.Concat(clickIDs, moreParams) {
		r := Rule{Name: p.name, Source: "default:" + strconv.Itoa(i+1), Reason: p.reason}
		if last := len(p.name) - 1; p.name[last] == '*' {
			r.match, r.Name = matchPrefix, p.name[:last]
		}
		l.Rules[i] = r
	}
	return l
}
