package params

import (
	"slices"
	"strconv"
	"strings"
)

// DefaultVersion is the version of Default.
const DefaultVersion = "2026-11-29"

// defaultParam is a line of the default list: a rule in the syntax of ParsePlain, in lower
// case. In moreParams, it can be several rules with ", " between them.
type defaultParam struct{ rule, reason string }

// The default list contains names that a vendor has documented or clearly owns,
// that no site uses for content, and without which every page is still the same
// page. It does not contain common words: ref, source, sid, id, s, name,
// campid, customid, cid, tag and similar names have other meanings elsewhere, so
// a rule for them needs a host or a shape. testdata/public.tsv compares it with the
// lists of others, name by name.

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
	{"matomo_campaign, matomo_kwd, matomo_keyword, matomo_source", "Matomo campaigns, by the long name"},
	{"matomo_medium, matomo_content, matomo_cid, matomo_group", "Matomo campaigns, by the long name"},
	{"matomo_placement", "Matomo campaigns, by the long name"},
	{"piwik_campaign, piwik_kwd, piwik_keyword", "Matomo campaigns, under its former name Piwik"},
	{"piwik_source, piwik_medium, piwik_content", "Matomo campaigns, under its former name Piwik"},
	{"piwik_cid", "Matomo campaigns, under its former name Piwik"},
	{"pk_campaign, pk_cpn, pk_kwd, pk_keyword, pk_source", "Matomo campaigns, by the short name"},
	{"pk_medium, pk_content, pk_cid", "Matomo campaigns, by the short name"},
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
	{"__hssc, __hstc, __hsfp", "HubSpot visitor across domains"},
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

	// The same three kinds, added on 2026-11-29.
	{"igsh", "Instagram share link, newer"},
	{"sscid", "ShareASale click"},
	{"cjdata", "CJ Affiliate: details of the click"},
	{"tduid", "Tradedoubler click"},
	{"admitad_uid", "Admitad click"},
	{"adsterra_clid", "Adsterra click"},
	{"ldtag_cl", "LINE Ads click"},
	{"_ly_c", "LINE Yahoo (Japan) Ads click"},
	{"_ly_r", "LINE Yahoo (Japan) Ads referrer"},
	{"yj_r", "Yahoo Japan Ads referrer"},
	{"irgwc", "impact.com: the link is one of a partner"},
	{"ircid, ir_campaignid", "impact.com campaign"},
	{"ir_adid", "impact.com advertisement"},
	{"ir_partnerid", "impact.com partner"},
	{"mindbox-click-id", "Mindbox click"},
	{"_branch_match_id", "Branch click"},
	{"_branch_referrer", "Branch: parameters of the link, compressed"},
	{"fb_action_ids, fb_action_types", "Facebook Open Graph stories"},
	{"fb_source", "Facebook: where the link was shown"},
	{"fb_ref", "Facebook: label of a social plugin"},
	{"fb_comment_id", "Facebook comments plugin: the comment that was shared"},
	{"action_object_map, action_type_map, action_ref_map", "Facebook Open Graph stories"},
	{"guccounter", "Yahoo consent page: times it was shown"},
	{"guce_referrer", "Yahoo consent page: referrer"},
	{"guce_referrer_sig", "Yahoo consent page: signature of the referrer"},
	{"usqp", "Google AMP: experiments of the cache"},
	{"__twitter_impression", "Twitter (X): AMP page shown in its app"},
	{"spot_im_redirect_source", "OpenWeb (Spot.IM) recommendation"},
	{"brave-campaign-id", "Brave Ads campaign"},
	{"brave-creative-id", "Brave Ads creative"},
	{"brave-creative-set-id", "Brave Ads creatives"},
	{"spm ~dotted", "Alibaba: site, page, block and position of the link"},
	{"pk_vid", "Matomo visitor across domains"},
	{"xtor", "Piano (AT Internet) campaigns, older"},
	{"at_custom*", "Piano (AT Internet) campaigns: numbered values of the advertiser"},
	{"at_campaign, at_campaign_type, at_channel, at_creation", "Piano (AT Internet) campaigns"},
	{"at_detail_placement, at_emailtype, at_format", "Piano (AT Internet) campaigns"},
	{"at_general_placement, at_identifier, at_link, at_link_id", "Piano (AT Internet) campaigns"},
	{"at_link_origin, at_link_type, at_medium, at_network, at_platform", "Piano (AT Internet) campaigns"},
	{"at_ptr_name, at_recipient_id, at_recipient_list, at_send_date", "Piano (AT Internet) campaigns"},
	{"at_term, at_type, at_variant", "Piano (AT Internet) campaigns"},
	{"s_cid", "Adobe Analytics campaigns"},
	{"adobe_mc", "Adobe visitor across domains"},
	{"adobe_mc_ref", "Adobe Target redirect: referrer"},
	{"adobe_mc_sdid", "Adobe Target redirect: visit"},
	{"cm_mmc*", "Acoustic (Coremetrics) campaigns, and their numbered attributes"},
	{"cm_cr", "Acoustic (Coremetrics) real estate of a link"},
	{"cm_me", "Acoustic (Coremetrics) merchandising"},
	{"cm_re", "Acoustic (Coremetrics) real estate of a link"},
	{"cm_sp", "Acoustic (Coremetrics) site promotion"},
	{"itm_source, itm_medium, itm_campaign, itm_content, itm_term", "Parse.ly campaigns within a site"},
	{"cx_click, cx_recsorder, cx_recswidget", "Piano (Cxense) recommendation"},
	{"_sgm_campaign, _sgm_source, _sgm_action, _sgm_term, _sgm_pinned", "Segmentify recommendation"},
	{"ebisadid", "AD EBiS campaign"},
	{"ebisother*", "AD EBiS: numbered values of the advertiser"},
	{"adjust_tracker, adjust_tracker_limit, adjust_campaign, adjust_adgroup", "Adjust campaigns"},
	{"adjust_creative, adjust_referrer", "Adjust campaigns"},
	{"echobox", "Echobox: time of a post"},
	{"dm_i", "Dotdigital recipient"},
	{"elqtrackid", "Oracle Eloqua: link of a mailing"},
	{"elqcampaignid", "Oracle Eloqua campaign"},
	{"elqaid", "Oracle Eloqua: asset"},
	{"elqat", "Oracle Eloqua: type of the asset"},
	{"elqak", "Oracle Eloqua: checksum"},
	{"elq ~hex32", "Oracle Eloqua recipient"},
	{"__s ~alnum16", "Drip recipient"},
	{"_bhlid", "beehiiv: link of a mailing"},
	{"_cldee, _clde", "ClickDimensions recipient"},
	{"bsft_aaid", "Blueshift mailing"},
	{"bsft_clkid", "Blueshift click"},
	{"bsft_eid, bsft_ek", "Blueshift mailing"},
	{"bsft_mid", "Blueshift message"},
	{"bsft_uid", "Blueshift recipient"},
	{"et_cid", "Salesforce Marketing Cloud (ExactTarget) mailing"},
	{"et_lid", "Salesforce Marketing Cloud (ExactTarget) link"},
	{"et_rid", "Salesforce Marketing Cloud (ExactTarget) recipient"},
	{"sfmc_activityid", "Salesforce Marketing Cloud mailing"},
	{"sfmc_id", "Salesforce Marketing Cloud recipient"},
	{"mindbox-message-key", "Mindbox recipient"},
	{"ml_subscriber, ml_subscriber_hash, ml_sub, ml_sub_hash", "MailerLite recipient"},
	{"sc_customer", "SAP Emarsys account"},
	{"sc_eh", "SAP Emarsys recipient"},
	{"sc_lid", "SAP Emarsys link"},
	{"sc_llid, sc_src", "SAP Emarsys mailing"},
	{"sc_uid", "SAP Emarsys recipient"},
	{"ss_campaign_id, ss_campaign_name, ss_campaign_sent_date", "Squarespace mailing"},
	{"ss_email_id", "Squarespace recipient"},
	{"ss_source", "Squarespace mailing"},
	{"vgo_ee", "ActiveCampaign recipient"},
}

// mailParams are the parameters of the default list that select the subscription
// on a page about it.
var mailParams = []defaultParam{
	{"mkt_tok", "Adobe Marketo Engage recipient"},
	{"ck_subscriber_id", "Kit (ConvertKit) recipient"},
}

// mailPages is the Rule.Path of pages that need mailParams: to unsubscribe, and
// mailings as web pages. A session ID in a path starts with ';' or '('.
const mailPages = "^[^;(]*(unsubscribe|emailwebview)"

// Default returns the built-in list in a new List: click IDs and the names of
// campaign parameters, for all hosts. A few apply to values of a certain shape, or
// not to links that unsubscribe. The list is based on the vendors' own
// documentation and contains no rule of another list.
func Default() *List {
	l := &List{Name: "default", Version: DefaultVersion}
	n := 0
	for i, p := range slices.Concat(clickIDs, moreParams, mailParams) {
		for rule := range strings.SplitSeq(p.rule, ", ") {
			r, _, reason := parseRule(rule)
			if reason != "" {
				panic("BUG: invalid rule in the built-in parameter list") // a test calls Default
			}
			n++
			r.Source, r.Reason, r.group = "default:"+strconv.Itoa(n), p.reason, "default"
			l.Rules = append(l.Rules, r)
			if i >= len(clickIDs)+len(moreParams) {
				r.action, r.Path = actionKeep, mailPages
				l.Rules = append(l.Rules, r)
			}
		}
	}
	return l
}
