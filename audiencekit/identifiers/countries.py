"""Countries as people write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Final

from audiencekit.identifiers.texts import in_form, is_placeholder

# --- Countries and what people call them: `alpha-2|alpha-3|name|other names` ---
#
# The codes are those of ISO 3166-1; the names are the everyday ones in English, with former names, the forms that shops
# and spreadsheets offer, and the country's own name where customer lists hold it. A name that means two countries
# ("Virgin Islands") is left out. AC, TA and XK are not in the standard but have phone numbers; EL is what the European
# Union writes for Greece. One letter is the distinguishing sign of vehicles (Convention on Road Traffic, Vienna 1968,
# article 45), which lists of German, French and Italian speakers have: D, A, F, I. Two or three letters are ISO's
# alone: FL, Liechtenstein's sign, is Florida, too.

COUNTRIES: Final = """
AC||Ascension Island|Ascension
AD|AND|Andorra
AE|ARE|United Arab Emirates|UAE|Emirates
AF|AFG|Afghanistan
AG|ATG|Antigua and Barbuda|Antigua
AI|AIA|Anguilla
AL|ALB|Albania
AM|ARM|Armenia
AO|AGO|Angola
AQ|ATA|Antarctica
AR|ARG|Argentina
AS|ASM|American Samoa|Samoa (American)
AT|AUT|Austria|Österreich|Oesterreich|A
AU|AUS|Australia
AW|ABW|Aruba
AX|ALA|Åland Islands|Åland
AZ|AZE|Azerbaijan
BA|BIH|Bosnia and Herzegovina|Bosnia|Bosnia-Herzegovina
BB|BRB|Barbados
BD|BGD|Bangladesh
BE|BEL|Belgium|België|Belgique|B
BF|BFA|Burkina Faso
BG|BGR|Bulgaria
BH|BHR|Bahrain
BI|BDI|Burundi
BJ|BEN|Benin
BL|BLM|Saint Barthélemy|St. Barthélemy|Saint Barts|St. Barts
BM|BMU|Bermuda
BN|BRN|Brunei|Brunei Darussalam
BO|BOL|Bolivia|Bolivia, Plurinational State of|Plurinational State of Bolivia
BQ|BES|Caribbean Netherlands|Bonaire|Bonaire, Sint Eustatius and Saba
BR|BRA|Brazil|Brasil
BS|BHS|Bahamas|Bahamas, The
BT|BTN|Bhutan
BV|BVT|Bouvet Island
BW|BWA|Botswana
BY|BLR|Belarus
BZ|BLZ|Belize
CA|CAN|Canada
CC|CCK|Cocos Islands|Cocos (Keeling) Islands
CD|COD|Democratic Republic of the Congo|DR Congo|DRC|Congo-Kinshasa|Congo (Kinshasa)|Congo (DRC)|Congo (Dem. Rep.)
CD|Congo, Democratic Republic of the|Congo, The Democratic Republic of the
CF|CAF|Central African Republic
CG|COG|Congo|Republic of the Congo|Congo, Republic of the|Congo-Brazzaville|Congo (Brazzaville)|Congo (Rep.)
CH|CHE|Switzerland|Schweiz|Suisse|Svizzera
CI|CIV|Côte d'Ivoire|Ivory Coast
CK|COK|Cook Islands
CL|CHL|Chile
CM|CMR|Cameroon
CN|CHN|China|People's Republic of China|PRC|Mainland China
CO|COL|Colombia
CR|CRI|Costa Rica
CU|CUB|Cuba
CV|CPV|Cabo Verde|Cape Verde
CW|CUW|Curaçao
CX|CXR|Christmas Island
CY|CYP|Cyprus
CZ|CZE|Czechia|Czech Republic
DE|DEU|Germany|Deutschland|Federal Republic of Germany|D
DJ|DJI|Djibouti
DK|DNK|Denmark|Danmark
DM|DMA|Dominica
DO|DOM|Dominican Republic
DZ|DZA|Algeria
EC|ECU|Ecuador
EE|EST|Estonia
EG|EGY|Egypt
EH|ESH|Western Sahara
ER|ERI|Eritrea
ES|ESP|Spain|España|E
ET|ETH|Ethiopia
FI|FIN|Finland|Suomi
FJ|FJI|Fiji
FK|FLK|Falkland Islands|Falkland Islands (Malvinas)|Falklands
FM|FSM|Micronesia|Micronesia, Federated States of|Federated States of Micronesia
FO|FRO|Faroe Islands|Faroes|Faeroe Islands
FR|FRA|France|F
GA|GAB|Gabon
GB|GBR|United Kingdom|UK|Great Britain|Britain|England|Scotland|Wales|Northern Ireland
GB|United Kingdom of Great Britain and Northern Ireland|United Kingdom (UK)
GD|GRD|Grenada
GE|GEO|Georgia
GF|GUF|French Guiana
GG|GGY|Guernsey
GH|GHA|Ghana
GI|GIB|Gibraltar
GL|GRL|Greenland
GM|GMB|Gambia|Gambia, The
GN|GIN|Guinea
GP|GLP|Guadeloupe
GQ|GNQ|Equatorial Guinea
GR|GRC|Greece|EL|Hellas
GS|SGS|South Georgia and the South Sandwich Islands
GT|GTM|Guatemala
GU|GUM|Guam
GW|GNB|Guinea-Bissau
GY|GUY|Guyana
HK|HKG|Hong Kong|Hong Kong SAR|Hong Kong SAR China
HM|HMD|Heard Island and McDonald Islands|Heard and McDonald Islands
HN|HND|Honduras
HR|HRV|Croatia|Hrvatska
HT|HTI|Haiti
HU|HUN|Hungary|Magyarország|H
ID|IDN|Indonesia
IE|IRL|Ireland|Republic of Ireland|Éire
IL|ISR|Israel
IM|IMN|Isle of Man
IN|IND|India
IO|IOT|British Indian Ocean Territory
IQ|IRQ|Iraq
IR|IRN|Iran|Iran, Islamic Republic of|Islamic Republic of Iran
IS|ISL|Iceland
IT|ITA|Italy|Italia|I
JE|JEY|Jersey
JM|JAM|Jamaica
JO|JOR|Jordan
JP|JPN|Japan
KE|KEN|Kenya
KG|KGZ|Kyrgyzstan
KH|KHM|Cambodia
KI|KIR|Kiribati
KM|COM|Comoros
KN|KNA|Saint Kitts and Nevis|St. Kitts and Nevis
KP|PRK|North Korea|Korea, North|Korea (North)
KP|Korea, Democratic People's Republic of|Democratic People's Republic of Korea|DPRK
KR|KOR|South Korea|Korea, Republic of|Republic of Korea|Korea, South|Korea (South)|Korea
KW|KWT|Kuwait
KY|CYM|Cayman Islands
KZ|KAZ|Kazakhstan
LA|LAO|Laos|Lao People's Democratic Republic
LB|LBN|Lebanon
LC|LCA|Saint Lucia|St. Lucia
LI|LIE|Liechtenstein
LK|LKA|Sri Lanka
LR|LBR|Liberia
LS|LSO|Lesotho
LT|LTU|Lithuania
LU|LUX|Luxembourg|Luxemburg|L
LV|LVA|Latvia
LY|LBY|Libya|Libyan Arab Jamahiriya
MA|MAR|Morocco
MC|MCO|Monaco
MD|MDA|Moldova|Moldova, Republic of|Republic of Moldova
ME|MNE|Montenegro
MF|MAF|Saint Martin|St. Martin|Saint Martin (French part)
MG|MDG|Madagascar
MH|MHL|Marshall Islands
MK|MKD|North Macedonia|Macedonia|Macedonia, the former Yugoslav Republic of
ML|MLI|Mali
MM|MMR|Myanmar|Burma|Myanmar (Burma)
MN|MNG|Mongolia
MO|MAC|Macao|Macau|Macao SAR|Macao SAR China
MP|MNP|Northern Mariana Islands
MQ|MTQ|Martinique
MR|MRT|Mauritania
MS|MSR|Montserrat
MT|MLT|Malta
MU|MUS|Mauritius
MV|MDV|Maldives
MW|MWI|Malawi
MX|MEX|Mexico|México
MY|MYS|Malaysia
MZ|MOZ|Mozambique
NA|NAM|Namibia
NC|NCL|New Caledonia
NE|NER|Niger
NF|NFK|Norfolk Island
NG|NGA|Nigeria
NI|NIC|Nicaragua
NL|NLD|Netherlands|Netherlands, The|Holland|Nederland|Kingdom of the Netherlands
NO|NOR|Norway|Norge|N
NP|NPL|Nepal
NR|NRU|Nauru
NU|NIU|Niue
NZ|NZL|New Zealand|Aotearoa
OM|OMN|Oman
PA|PAN|Panama
PE|PER|Peru
PF|PYF|French Polynesia
PG|PNG|Papua New Guinea
PH|PHL|Philippines
PK|PAK|Pakistan
PL|POL|Poland|Polska
PM|SPM|Saint Pierre and Miquelon|St. Pierre and Miquelon
PN|PCN|Pitcairn|Pitcairn Islands
PR|PRI|Puerto Rico
PS|PSE|Palestine|Palestine, State of|State of Palestine|Palestinian Territories|Palestinian Territory
PT|PRT|Portugal|P
PW|PLW|Palau
PY|PRY|Paraguay
QA|QAT|Qatar
RE|REU|Réunion
RO|ROU|Romania
RS|SRB|Serbia
RU|RUS|Russia|Russian Federation
RW|RWA|Rwanda
SA|SAU|Saudi Arabia|KSA|Kingdom of Saudi Arabia
SB|SLB|Solomon Islands
SC|SYC|Seychelles
SD|SDN|Sudan
SE|SWE|Sweden|Sverige|S
SG|SGP|Singapore
SH|SHN|Saint Helena|St. Helena|Saint Helena, Ascension and Tristan da Cunha
SI|SVN|Slovenia
SJ|SJM|Svalbard and Jan Mayen|Svalbard
SK|SVK|Slovakia|Slovak Republic
SL|SLE|Sierra Leone
SM|SMR|San Marino
SN|SEN|Senegal
SO|SOM|Somalia
SR|SUR|Suriname
SS|SSD|South Sudan
ST|STP|São Tomé and Príncipe
SV|SLV|El Salvador
SX|SXM|Sint Maarten|Sint Maarten (Dutch part)
SY|SYR|Syria|Syrian Arab Republic
SZ|SWZ|Eswatini|Swaziland
TA||Tristan da Cunha
TC|TCA|Turks and Caicos Islands|Turks and Caicos
TD|TCD|Chad
TF|ATF|French Southern Territories
TG|TGO|Togo
TH|THA|Thailand
TJ|TJK|Tajikistan
TK|TKL|Tokelau
TL|TLS|Timor-Leste|East Timor
TM|TKM|Turkmenistan
TN|TUN|Tunisia
TO|TON|Tonga
TR|TUR|Türkiye|Turkey|Turkiye
TT|TTO|Trinidad and Tobago|Trinidad
TV|TUV|Tuvalu
TW|TWN|Taiwan|Taiwan, Province of China|Taiwan (Province of China)
TZ|TZA|Tanzania|Tanzania, United Republic of|United Republic of Tanzania
UA|UKR|Ukraine
UG|UGA|Uganda
UM|UMI|United States Minor Outlying Islands|US Minor Outlying Islands
US|USA|United States|United States of America|America|United States (US)
UY|URY|Uruguay
UZ|UZB|Uzbekistan
VA|VAT|Vatican City|Vatican|Holy See|Holy See (Vatican City State)
VC|VCT|Saint Vincent and the Grenadines|St. Vincent and the Grenadines|Saint Vincent|St. Vincent
VE|VEN|Venezuela|Venezuela, Bolivarian Republic of|Bolivarian Republic of Venezuela
VG|VGB|British Virgin Islands|Virgin Islands, British|Virgin Islands (British)
VI|VIR|US Virgin Islands|Virgin Islands, U.S.|Virgin Islands (U.S.)|United States Virgin Islands
VN|VNM|Vietnam|Viet Nam
VU|VUT|Vanuatu
WF|WLF|Wallis and Futuna
WS|WSM|Samoa|Western Samoa
XK|XKX|Kosovo
YE|YEM|Yemen
YT|MYT|Mayotte
ZA|ZAF|South Africa
ZM|ZMB|Zambia
ZW|ZWE|Zimbabwe
"""

# `alpha-2|names`: what exports of programs in other languages write, as CLDR has it: German, French, Spanish,
# Italian, Portuguese, Dutch, Polish, Turkish, Russian, Japanese, Korean, Chinese, Arabic, Swedish, Danish, Norwegian,
# Finnish, Czech, Hungarian, Romanian, Greek and Ukrainian; and some long names of large countries. A name that means
# another country in one of them is left out.
IN_OTHER_LANGUAGES: Final = """
AD|Andorre|Andora|Андорра|アンドラ|안도라|安道尔|安道爾|أندورا
AD|Ανδόρα
AE|Vereinigte Arabische Emirate|Émirats arabes unis|Emiratos Árabes Unidos|Emirati Arabi Uniti|Emirados Árabes Unidos
AE|Verenigde Arabische Emiraten|Zjednoczone Emiraty Arabskie|Birleşik Arap Emirlikleri|ОАЭ|アラブ首長国連邦
AE|아랍에미리트|阿拉伯联合酋长国|阿拉伯聯合大公國|الإمارات العربية المتحدة
AE|Förenade Arabemiraten|De Forenede Arabiske Emirater|De forente arabiske emirater|Arabiemiirikunnat
AE|Spojené arabské emiráty|Egyesült Arab Emírségek|Emiratele Arabe Unite|Ηνωμένα Αραβικά Εμιράτα
AE|Об'єднані Арабські Емірати
AF|Afganistán|Afeganistão|Афганистан|アフガニスタン|아프가니스탄|阿富汗|أفغانستان
AF|Afganisztán|Αφγανιστάν|Афганістан
AL|Albanien|Albanie|Arnavutluk|Албания|アルバニア|알바니아|阿尔巴尼亚|阿爾巴尼亞|ألبانيا
AL|Αλβανία|Албанія
AM|Armenien|Arménie|Ermenistan|Армения|アルメニア|아르메니아|亚美尼亚|亞美尼亞|أرمينيا
AM|Örményország|Αρμενία|Вірменія
AO|Ангола|アンゴラ|앙골라|安哥拉|أنغولا
AO|Αγκόλα
AR|Argentinien|Argentine|Argentinië|Argentyna|Arjantin|Аргентина|アルゼンチン|아르헨티나|阿根廷|الأرجنتين
AR|Argentiina|Αργεντινή
AT|Autriche|Oostenrijk|Avusturya|Австрия|オーストリア|오스트리아|奥地利|奧地利|النمسا
AT|Österrike|Østrig|Østerrike|Itävalta|Rakousko|Ausztria|Αυστρία|Австрія
AU|Australien|Australie|Avustralya|Австралия|オーストラリア|오스트레일리아|澳大利亚|澳洲|أستراليا
AU|Ausztrália|Αυστραλία|Австралія
AZ|Aserbaidschan|Azerbaïdjan|Azerbaiyán|Azerbaigian|Azerbaijão|Azerbeidzjan|Azerbejdżan|Azerbaycan|Азербайджан
AZ|アゼルバイジャン|아제르바이잔|阿塞拜疆|亞塞拜然|أذربيجان
AZ|Azerbajdzjan|Aserbajdsjan|Azerbaidžan|Ázerbájdžán|Azerbajdzsán|Αζερμπαϊτζάν
BA|Bosnien und Herzegowina|Bosnie-Herzégovine|Bosnia y Herzegovina|Bosnia ed Erzegovina|Bósnia e Herzegovina
BA|Bosnië en Herzegovina|Bośnia i Hercegowina|Bosna-Hersek|Босния и Герцеговина|ボスニア・ヘルツェゴビナ
BA|보스니아 헤르체고비나|波斯尼亚和黑塞哥维那|波士尼亞與赫塞哥維納|البوسنة والهرسك
BA|Bosnien och Hercegovina|Bosnien-Hercegovina|Bosnia-Hercegovina|Bosnia ja Hertsegovina|Bosna a Hercegovina
BA|Bosznia-Hercegovina|Bosnia și Herțegovina|Βοσνία - Ερζεγοβίνη|Боснія і Герцеговина
BD|Bangladesch|Bangladés|Bangladesz|Бангладеш|バングラデシュ|방글라데시|孟加拉国|孟加拉|بنغلاديش
BD|Μπανγκλαντές
BE|Belgien|Bélgica|Belgio|Belgia|Belçika|Бельгия|ベルギー|벨기에|比利时|比利時|بلجيكا
BE|Βέλγιο|Бельгія
BG|Bulgarien|Bulgarie|Bulgarije|Bułgaria|Bulgaristan|Болгария|ブルガリア|불가리아|保加利亚|保加利亞|بلغاريا
BG|Bulharsko|Βουλγαρία|Болгарія
BH|Bahreïn|Baréin|Bahrajn|Bahreyn|Бахрейн|バーレーン|바레인|巴林|البحرين
BH|Μπαχρέιν
BO|Bolivien|Bolivie|Boliwia|Bolivya|Боливия|ボリビア|볼리비아|玻利维亚|玻利維亞|بوليفيا
BO|Βολιβία|Болівія
BR|Brasilien|Brésil|Brasile|Brazilië|Brazylia|Brezilya|Бразилия|ブラジル|브라질|巴西|البرازيل
BR|Brasilia|Brazília|Βραζιλία|Бразилія
BY|Biélorussie|Bielorrusia|Bielorussia|Bielorrússia|Białoruś|Беларусь|ベラルーシ|벨라루스|白俄罗斯|白俄羅斯|بيلاروس
BY|Weißrussland|Valko-Venäjä|Bělorusko|Belarusz|Λευκορωσία|Білорусь
CA|Kanada|Канада|カナダ|캐나다|加拿大|كندا
CA|Καναδάς
CH|Suiza|Suíça|Zwitserland|Szwajcaria|İsviçre|Швейцария|スイス|스위스|瑞士|سويسرا
CH|Schweizerische Eidgenossenschaft|Sveits|Sveitsi|Švýcarsko|Svájc|Elveția|Ελβετία|Швейцарія
CI|Elfenbeinküste|Costa de Marfil|Costa d'Avorio|Costa do Marfim|Ivoorkust
CL|Chili|Cile|Şili|Чили|チリ|칠레|智利|تشيلي
CL|Χιλή|Чилі
CM|Kamerun|Cameroun|Camerún|Camarões|Kameroen|Камерун|カメルーン|카메룬|喀麦隆|喀麥隆|الكاميرون
CM|Καμερούν
CN|Chine|Cina|Chiny|Çin|Китай|中国|중국|中國|الصين
CN|Volksrepublik China|Kina|Kiina|Κίνα
CO|Kolumbien|Colombie|Kolumbia|Kolombiya|Колумбия|コロンビア|콜롬비아|哥伦比亚|哥倫比亞|كولومبيا
CO|Kolumbie|Columbia|Κολομβία|Колумбія
CR|Kostaryka|Kosta Rika|Коста-Рика|コスタリカ|코스타리카|哥斯达黎加|哥斯大黎加|كوستاريكا
CR|Κόστα Ρίκα
CU|Kuba|Куба|キューバ|쿠바|古巴|كوبا
CU|Kuuba|Κούβα
CY|Zypern|Chypre|Chipre|Cipro|Cypr|Kıbrıs|Кипр|キプロス|키프로스|塞浦路斯|賽普勒斯|قبرص
CY|Cypern|Kypros|Kypr|Ciprus|Cipru|Κύπρος|Кіпр
CZ|Tschechien|Tchéquie|Chequia|Cechia|Tchéquia|Tsjechië|Czechy|Çekya|Чехия|チェコ|체코|捷克|التشيك
CZ|Česko|Česká republika
CZ|Tschechische Republik|République tchèque|República Checa|Repubblica Ceca|Tsjechische Republiek|Tjeckien|Tjekkiet
CZ|Tsjekkia|Tšekki|Csehország|Cehia|Τσεχία|Чехія
DE|Allemagne|Alemania|Germania|Alemanha|Duitsland|Niemcy|Almanya|Германия|ドイツ|독일|德国|德國|ألمانيا
DE|Bundesrepublik Deutschland|Tyskland|Saksa|Německo|Németország|Γερμανία|Німеччина
DK|Dänemark|Dinamarca|Danimarca|Denemarken|Dania|Danimarka|Дания|デンマーク|덴마크|丹麦|丹麥|الدانمرك
DK|Tanska|Dánsko|Danemarca|Δανία|Данія
DO|Dominikanische Republik|République dominicaine|República Dominicana|Repubblica Dominicana|Dominicaanse Republiek
DO|Dominikana|Dominik Cumhuriyeti|Доминиканская Республика|ドミニカ共和国|도미니카 공화국|多米尼加共和国
DO|多明尼加共和國|جمهورية الدومينيكان
DO|Dominikanska republiken|Den Dominikanske Republik|Den dominikanske republikk|Dominikaaninen tasavalta
DO|Dominikánská republika|Dominikai Köztársaság|Δομινικανή Δημοκρατία|Домініканська Республіка
DZ|Algerien|Algérie|Argelia|Algerije|Algieria|Cezayir|Алжир|アルジェリア|알제리|阿尔及利亚|阿爾及利亞|الجزائر
DZ|Algeriet|Alžírsko|Αλγερία
EC|Équateur|Equador|Ekwador|Ekvador|Эквадор|エクアドル|에콰도르|厄瓜多尔|厄瓜多|الإكوادور
EC|Ισημερινός|Еквадор
EE|Estland|Estonie|Estonya|Эстония|エストニア|에스토니아|爱沙尼亚|愛沙尼亞|إستونيا
EE|Viro|Estonsko|Észtország|Εσθονία|Естонія
EG|Ägypten|Égypte|Egipto|Egitto|Egito|Egipt|Mısır|Египет|エジプト|이집트|埃及|مصر
EG|Egypten|Egypti|Egyiptom|Αίγυπτος|Єгипет
ES|Spanien|Espagne|Spagna|Espanha|Spanje|Hiszpania|İspanya|Испания|スペイン|스페인|西班牙|إسبانيا
ES|Spania|Espanja|Španělsko|Spanyolország|Ισπανία|Іспанія
ET|Äthiopien|Éthiopie|Etiopía|Etiyopya|Эфиопия|エチオピア|에티오피아|埃塞俄比亚|衣索比亞|إثيوبيا
ET|Etiopien|Etiopie|Αιθιοπία|Ефіопія
FI|Finnland|Finlande|Finlandia|Finlandiya|Финляндия|フィンランド|핀란드|芬兰|芬蘭|فنلندا
FI|Finsko|Finnország|Finlanda|Φινλανδία|Фінляндія
FR|Frankreich|Francia|França|Frankrijk|Francja|Fransa|Франция|フランス|프랑스|法国|法國|فرنسا
FR|Frankrike|Frankrig|Ranska|Francie|Franciaország|Franța|Γαλλία|Франція
GB|Vereinigtes Königreich|Royaume-Uni|Reino Unido|Regno Unito|Verenigd Koninkrijk|Wielka Brytania|Birleşik Krallık
GB|Великобритания|イギリス|영국|英国|英國|المملكة المتحدة
GB|Großbritannien|Schottland|Grande-Bretagne|Gran Bretaña|Gran Bretagna|Grã-Bretanha|Groot-Brittannië|Storbritannien
GB|Storbritannia|Iso-Britannia|Spojené království|Egyesült Királyság|Regatul Unit|Ηνωμένο Βασίλειο|Велика Британія
GE|Georgien|Géorgie|Gruzja|Gürcistan|Грузия|ジョージア|조지아|格鲁吉亚|喬治亞|جورجيا
GE|Gruzie|Grúzia|Γεωργία|Грузія
GH|Gana|Гана|ガーナ|가나|加纳|迦納|غانا
GH|Γκάνα
GR|Griechenland|Grèce|Grecia|Griekenland|Grecja|Yunanistan|Греция|ギリシャ|그리스|希腊|希臘|اليونان
GR|Ελλάδα
GR|Grekland|Grækenland|Kreikka|Řecko|Görögország|Греція
GT|Gwatemala|Гватемала|グアテマラ|과테말라|危地马拉|瓜地馬拉|غواتيمالا
GT|Γουατεμάλα
HK|Sonderverwaltungsregion Hongkong|R.A.S. chinoise de Hong Kong|RAE de Hong Kong (China)|RAS di Hong Kong
HK|Hong Kong, RAE da China|Hongkong SAR van China|SRA Hongkong (Chiny)|Çin Hong Kong ÖİB|Гонконг (САР)
HK|中華人民共和国香港特別行政区|홍콩(중국 특별행정구)|中国香港特别行政区|中國香港特別行政區
HK|هونغ كونغ الصينية (منطقة إدارية خاصة)
HK|SAR Hongkong|Hongkong SAR Kina|Hongkong – Kiinan erityishallintoalue|Hongkong – ZAO Číny|Hongkong KKT
HK|R.A.S. Hong Kong, China|Χονγκ Κονγκ ΕΔΠ Κίνας|Гонконг, ОАР Китаю
HN|Гондурас|ホンジュラス|온두라스|洪都拉斯|宏都拉斯|هندوراس
HN|Ονδούρα
HR|Kroatien|Croatie|Croacia|Croazia|Kroatië|Chorwacja|Hırvatistan|Хорватия|クロアチア|크로아티아|克罗地亚|克羅埃西亞
HR|كرواتيا
HR|Kroatia|Chorvatsko|Horvátország|Κροατία|Хорватія
HU|Ungarn|Hongrie|Hungría|Ungheria|Hongarije|Węgry|Macaristan|Венгрия|ハンガリー|헝가리|匈牙利|هنغاريا
HU|Ungern|Unkari|Maďarsko|Ungaria|Ουγγαρία|Угорщина
ID|Indonesien|Indonésie|Indonezja|Endonezya|Индонезия|インドネシア|인도네시아|印度尼西亚|印尼|إندونيسيا
ID|Indonézia|Ινδονησία|Індонезія
IE|Irland|Irlande|Irlanda|Ierland|Irlandia|Ирландия|アイルランド|아일랜드|爱尔兰|愛爾蘭|أيرلندا
IE|Irlanti|Irsko|Írország|Ιρλανδία|Ірландія
IL|Israele|Izrael|İsrail|Израиль|イスラエル|이스라엘|以色列|إسرائيل
IL|ישראל
IL|Ισραήλ|Ізраїль
IN|Indien|Inde|Indie|Hindistan|Индия|インド|인도|印度|الهند
IN|Intia|Ινδία|Індія
IQ|Irak|Iraque|Ирак|イラク|이라크|伊拉克|العراق
IQ|Ιράκ|Ірак
IR|Irã|Иран|イラン|이란|伊朗|إيران
IR|Ιράν|Іран
IS|Island|Islande|Islandia|Islanda|IJsland|İzlanda|Исландия|アイスランド|아이슬란드|冰岛|冰島|آيسلندا
IS|Islanti|Izland|Ισλανδία|Ісландія
IT|Italien|Italie|Włochy|İtalya|Италия|イタリア|이탈리아|意大利|義大利|إيطاليا
IT|Olaszország|Ιταλία|Італія
JM|Jamaika|Jamaïque|Giamaica|Jamajka|Ямайка|ジャマイカ|자메이카|牙买加|牙買加|جامايكا
JM|Τζαμάικα
JO|Jordanien|Jordanie|Jordania|Giordania|Ürdün|Иордания|ヨルダン|요르단|约旦|約旦|الأردن
JO|Jordánsko|Iordania|Ιορδανία|Йорданія
JP|Japon|Giappone|Japão|Japonia|Japonya|Япония|日本|일본|اليابان
JP|Japani|Japonsko|Ιαπωνία|Японія
KE|Kenia|Quênia|Кения|ケニア|케냐|肯尼亚|肯亞|كينيا
KE|Keňa|Κένυα|Кенія
KH|Kambodscha|Cambodge|Camboya|Cambogia|Camboja|Cambodja|Kambodża|Kamboçya|Камбоджа|カンボジア|캄보디아|柬埔寨|كمبوديا
KH|Kambodja|Kambodsja|Kambodzsa|Cambodgia|Καμπότζη
KR|Südkorea|Corée du Sud|Corea del Sur|Corea del Sud|Coreia do Sul|Zuid-Korea|Korea Południowa|Güney Kore
KR|Республика Корея|韓国|대한민국|韩国|南韓|كوريا الجنوبية
KR|Korea (Süd)|Republik Korea|Sydkorea|Sør-Korea|Etelä-Korea|Jižní Korea|Dél-Korea|Coreea de Sud|Νότια Κορέα
KR|Південна Корея
KW|Koweït|Koeweit|Kuwejt|Kuveyt|Кувейт|クウェート|쿠웨이트|科威特|الكويت
KW|Kuvajt|Kuvait|Kuweit|Κουβέιτ
KZ|Kasachstan|Kazajistán|Kazakistan|Cazaquistão|Kazachstan|Казахстан|カザフスタン|카자흐스탄|哈萨克斯坦|哈薩克
KZ|كازاخستان
KZ|Kazakstan|Kasakhstan|Kazahsztán|Kazahstan|Καζακστάν
LB|Libanon|Liban|Líbano|Lübnan|Ливан|レバノン|레바논|黎巴嫩|لبنان
LB|Λίβανος|Ліван
LI|Лихтенштейн|リヒテンシュタイン|리히텐슈타인|列支敦士登|列支敦斯登|ليختنشتاين
LI|Lichtenštejnsko|Λιχτενστάιν|Ліхтенштейн
LK|Шри-Ланка|スリランカ|스리랑카|斯里兰卡|斯里蘭卡|سريلانكا
LK|Σρι Λάνκα|Шрі-Ланка
LT|Litauen|Lituanie|Lituania|Litouwen|Litwa|Litvanya|Литва|リトアニア|리투아니아|立陶宛|ليتوانيا
LT|Liettua|Litva|Litvánia|Λιθουανία
LU|Luxemburgo|Lussemburgo|Luksemburg|Люксембург|ルクセンブルク|룩셈부르크|卢森堡|盧森堡|لوكسمبورغ
LU|Lucembursko|Λουξεμβούργο
LV|Lettland|Lettonie|Letonia|Lettonia|Letland|Łotwa|Letonya|Латвия|ラトビア|라트비아|拉脱维亚|拉脫維亞|لاتفيا
LV|Lotyšsko|Lettország|Λετονία|Латвія
LY|Libyen|Libye|Libia|Libië|Ливия|リビア|리비아|利比亚|利比亞|ليبيا
LY|Λιβύη|Лівія
MA|Marokko|Maroc|Marruecos|Marocco|Marrocos|Maroko|Fas|Марокко|モロッコ|모로코|摩洛哥|المغرب
MA|Marocko|Μαρόκο
MC|Monako|Монако|モナコ|모나코|摩纳哥|摩納哥|موناكو
MC|Μονακό
MD|Republik Moldau|Moldavie|Moldavia|Mołdawia|Молдова|モルドバ|몰도바|摩尔多瓦|摩爾多瓦|مولدوفا
MD|Moldawien|Moldavien|Moldavsko|Republica Moldova|Μολδαβία
ME|Czarnogóra|Karadağ|Черногория|モンテネグロ|몬테네그로|黑山|蒙特內哥羅|الجبل الأسود
ME|Černá Hora|Muntenegru|Μαυροβούνιο|Чорногорія
MK|Nordmazedonien|Macédoine du Nord|Macedonia del Norte|Macedonia del Nord|Macedônia do Norte|Noord-Macedonië
MK|Macedonia Północna|Kuzey Makedonya|Северная Македония|北マケドニア|북마케도니아|北马其顿|北馬其頓|مقدونيا الشمالية
MK|Mazedonien|Macédoine|Nordmakedonien|Nord-Makedonia|Pohjois-Makedonia|Severní Makedonie|Észak-Macedónia
MK|Macedonia de Nord|Βόρεια Μακεδονία|Північна Македонія
MM|Myanmar (Birmanie)|Myanmar (Birmania)|Mianmar (Birmânia)|Myanmar (Birma)|Mjanma (Birma)|Мьянма (Бирма)
MM|ミャンマー (ビルマ)|미얀마|缅甸|緬甸|ميانمار (بورما)
MM|Myanmar (Barma)|Mianmar|Μιανμάρ (Βιρμανία)|М'янма (Бірма)
MN|Mongolei|Mongolie|Moğolistan|Монголия|モンゴル|몽골|蒙古|منغوليا
MN|Mongoliet|Mongolsko|Μογγολία|Монголія
MO|Sonderverwaltungsregion Macau|R.A.S. chinoise de Macao|RAE de Macao (China)|RAS di Macao|Macau, RAE da China
MO|Macau SAR van China|SRA Makau (Chiny)|Çin Makao ÖİB|Макао (САР)|中華人民共和国マカオ特別行政区
MO|마카오(중국 특별행정구)|中国澳门特别行政区|中國澳門特別行政區|منطقة ماكاو الإدارية الخاصة
MO|SAR Macao|Macao SAR Kina|Macao – Kiinan erityishallintoalue|Macao – ZAO Číny|Makaó KKT|R.A.S. Macao, China
MO|Μακάο ΕΔΠ Κίνας|Макао, ОАР Китаю
MT|Malte|Мальта|マルタ|몰타|马耳他|馬爾他|مالطا
MT|Μάλτα
MX|Mexiko|Mexique|Messico|Meksyk|Meksika|Мексика|メキシコ|멕시코|墨西哥|المكسيك
MX|Meksiko|Mexic|Μεξικό
MY|Malaisie|Malasia|Maleisië|Malezja|Malezya|Малайзия|マレーシア|말레이시아|马来西亚|馬來西亞|ماليزيا
MY|Malesia|Malajsie|Malajzia|Μαλαισία|Малайзія
NG|Nijerya|Нигерия|ナイジェリア|나이지리아|尼日利亚|奈及利亞|نيجيريا
NG|Nigérie|Νιγηρία|Нігерія
NI|Nikaragua|Никарагуа|ニカラグア|니카라과|尼加拉瓜|نيكاراغوا
NI|Νικαράγουα|Нікарагуа
NL|Niederlande|Pays-Bas|Países Bajos|Paesi Bassi|Países Baixos|Holandia|Hollanda|Нидерланды|オランダ|네덜란드|荷兰
NL|荷蘭|هولندا
NL|Königreich der Niederlande|Nederländerna|Nederlandene|Alankomaat|Nizozemsko|Hollandia|Țările de Jos|Κάτω Χώρες
NL|Нідерланди
NO|Norwegen|Norvège|Noruega|Norvegia|Noorwegen|Norwegia|Norveç|Норвегия|ノルウェー|노르웨이|挪威|النرويج
NO|Norja|Norsko|Νορβηγία|Норвегія
NP|Непал|ネパール|네팔|尼泊尔|尼泊爾|نيبال
NP|Νεπάλ
NZ|Neuseeland|Nouvelle-Zélande|Nueva Zelanda|Nuova Zelanda|Nova Zelândia|Nieuw-Zeeland|Nowa Zelandia|Yeni Zelanda
NZ|Новая Зеландия|ニュージーランド|뉴질랜드|新西兰|紐西蘭|نيوزيلندا
NZ|Nya Zeeland|Uusi-Seelanti|Nový Zéland|Új-Zéland|Noua Zeelandă|Νέα Ζηλανδία|Нова Зеландія
OM|Omã|Umman|Оман|オマーン|오만|阿曼|عُمان
OM|Ομάν
PA|Панама|パナマ|파나마|巴拿马|巴拿馬|بنما
PA|Παναμάς
PE|Pérou|Перу|ペルー|페루|秘鲁|秘魯|بيرو
PE|Περού
PH|Philippinen|Filipinas|Filippine|Filipijnen|Filipiny|Filipinler|Филиппины|フィリピン|필리핀|菲律宾|菲律賓|الفلبين
PH|Filippinerna|Filippinerne|Filippinene|Filippiinit|Fülöp-szigetek|Filipine|Φιλιππίνες|Філіппіни
PK|Paquistão|Пакистан|パキスタン|파키스탄|巴基斯坦|باكستان
PK|Pakisztán|Πακιστάν
PL|Polen|Pologne|Polonia|Polonya|Польша|ポーランド|폴란드|波兰|波蘭|بولندا
PL|Puola|Polsko|Lengyelország|Πολωνία|Польща
PR|Porto Rico|Portoryko|Porto Riko|Пуэрто-Рико|プエルトリコ|푸에르토리코|波多黎各|بورتوريكو
PR|Πουέρτο Ρίκο|Пуерто-Рико
PT|Portogallo|Portugalia|Portekiz|Португалия|ポルトガル|포르투갈|葡萄牙|البرتغال
PT|Portugali|Portugalsko|Πορτογαλία|Португалія
PY|Paraguai|Paragwaj|Парагвай|パラグアイ|파라과이|巴拉圭|باراغواي
PY|Παραγουάη
QA|Katar|Catar|Катар|カタール|카타르|卡塔尔|卡達|قطر
QA|Κατάρ
RO|Rumänien|Roumanie|Rumanía|Romênia|Roemenië|Rumunia|Romanya|Румыния|ルーマニア|루마니아|罗马尼亚|羅馬尼亞|رومانيا
RO|Rumænien|Rumunsko|Ρουμανία|Румунія
RS|Serbien|Serbie|Sérvia|Servië|Sırbistan|Сербия|セルビア|세르비아|塞尔维亚|塞爾維亞|صربيا
RS|Srbsko|Szerbia|Σερβία|Сербія
RU|Russland|Russie|Rusia|Rusland|Rosja|Rusya|Россия|ロシア|러시아|俄罗斯|俄羅斯|روسيا
RU|Russische Föderation|Fédération de Russie|Federación de Rusia|Ryssland|Venäjä|Rusko|Oroszország|Ρωσία|Росія
SA|Saudi-Arabien|Arabie saoudite|Arabia Saudí|Arabia Saudita|Saoedi-Arabië|Arabia Saudyjska|Suudi Arabistan
SA|Саудовская Аравия|サウジアラビア|사우디아라비아|沙特阿拉伯|沙烏地阿拉伯|المملكة العربية السعودية
SA|Saúdská Arábie|Szaúd-Arábia|Σαουδική Αραβία|Саудівська Аравія
SE|Schweden|Suède|Suecia|Svezia|Zweden|Szwecja|İsveç|Швеция|スウェーデン|스웨덴|瑞典|السويد
SE|Ruotsi|Švédsko|Svédország|Suedia|Σουηδία|Швеція
SG|Singapur|Singapour|Singapura|Сингапур|シンガポール|싱가포르|新加坡|سنغافورة
SG|Szingapúr|Σιγκαπούρη|Сінгапур
SI|Slowenien|Slovénie|Eslovenia|Słowenia|Slovenya|Словения|スロベニア|슬로베니아|斯洛文尼亚|斯洛維尼亞|سلوفينيا
SI|Slovenien|Slovinsko|Szlovénia|Σλοβενία|Словенія
SK|Slowakei|Slovaquie|Eslovaquia|Slovacchia|Slowakije|Słowacja|Slovakya|Словакия|スロバキア|슬로바키아|斯洛伐克
SK|سلوفاكيا
SK|Slowakische Republik|Slovakien|Slovakiet|Slovensko|Szlovákia|Slovacia|Σλοβακία|Словаччина
SM|Saint-Marin|Сан-Марино|サンマリノ|산마리노|圣马力诺|聖馬利諾|سان مارينو
SM|Άγιος Μαρίνος
SN|Сенегал|セネガル|세네갈|塞内加尔|塞內加爾|السنغال
SN|Szenegál|Σενεγάλη
SV|Salvador|Salwador|Сальвадор|エルサルバドル|엘살바도르|萨尔瓦多|薩爾瓦多|السلفادور
SV|Ελ Σαλβαδόρ
SY|Syrien|Syrie|Siria|Suriye|Сирия|シリア|시리아|叙利亚|敘利亞|سوريا
SY|Syyria|Szíria|Συρία|Сирія
TH|Thaïlande|Tailandia|Thailandia|Tajlandia|Tayland|Таиланд|タイ|태국|泰国|泰國|تايلاند
TH|Thaimaa|Thajsko|Thaiföld|Thailanda|Ταϊλάνδη|Таїланд
TN|Tunesien|Tunisie|Túnez|Tunesië|Tunezja|Tunus|Тунис|チュニジア|튀니지|突尼斯|突尼西亞|تونس
TN|Tunisien|Tunisko|Tunézia|Τυνησία|Туніс
TR|Türkei|Turquie|Turquía|Turchia|Turkije|Turcja|Турция|トルコ|튀르키예|土耳其|تركيا
TR|Türkiye Cumhuriyeti|Turkiet|Tyrkiet|Tyrkia|Turkki|Turecko|Törökország|Turcia|Τουρκία|Туреччина
TW|Tajwan|Tayvan|Тайвань|台湾|대만|台灣|تايوان
TW|Tchaj-wan|Tajvan|Ταϊβάν
UA|Ucrania|Ucraina|Oekraïne|Ukraina|Ukrayna|Украина|ウクライナ|우크라이나|乌克兰|烏克蘭|أوكرانيا
UA|Україна
UA|Ukrajina|Ukrajna|Ουκρανία
UG|Ouganda|Oeganda|Уганда|ウガンダ|우간다|乌干达|烏干達|أوغندا
UG|Ουγκάντα
US|Vereinigte Staaten|États-Unis|Estados Unidos|Stati Uniti|Verenigde Staten|Stany Zjednoczone
US|Amerika Birleşik Devletleri|Соединенные Штаты|アメリカ合衆国|미국|美国|美國|الولايات المتحدة
US|Vereinigte Staaten von Amerika|États-Unis d'Amérique|Estados Unidos de América|Estados Unidos da América
US|Stati Uniti d'America|Verenigde Staten van Amerika|Yhdysvallat|Spojené státy|Egyesült Államok
US|Statele Unite ale Americii|Ηνωμένες Πολιτείες|Сполучені Штати
UY|Uruguai|Urugwaj|Уругвай|ウルグアイ|우루과이|乌拉圭|烏拉圭|أورغواي
UY|Ουρουγουάη
UZ|Usbekistan|Ouzbékistan|Uzbequistão|Oezbekistan|Özbekistan|Узбекистан|ウズベキスタン|우즈베키스탄|乌兹别克斯坦
UZ|烏茲別克|أوزبكستان
UZ|Üzbegisztán|Ουζμπεκιστάν
VE|Wenezuela|Венесуэла|ベネズエラ|베네수엘라|委内瑞拉|委內瑞拉|فنزويلا
VE|Βενεζουέλα|Венесуела
VN|Vietnã|Wietnam|Вьетнам|ベトナム|베트남|越南|فيتنام
VN|Βιετνάμ|В'єтнам
YE|Jemen|Iêmen|Йемен|イエメン|예멘|也门|葉門|اليمن
YE|Υεμένη|Ємен
ZA|Südafrika|Afrique du Sud|Sudáfrica|África do Sul|Zuid-Afrika|Republika Południowej Afryki|Güney Afrika
ZA|Южно-Африканская Республика|南アフリカ|남아프리카|南非|جنوب أفريقيا
ZA|Sydafrika|Sør-Afrika|Etelä-Afrikka|Jihoafrická republika|Dél-afrikai Köztársaság|Africa de Sud|Νότια Αφρική
ZA|Південно-Африканська Республіка
"""


# --- Countries as people write them in a cell -> ISO 3166-1 alpha-2 ---

_CODES: Final = frozenset(line.partition("|")[0] for line in COUNTRIES.strip().splitlines())  # alpha-2


UNKNOWN_COUNTRY: Final = "ZZ"  # as CLDR has it
_NOTHING_CHOSEN: Final = frozenset(
    {"", "0", "00", "000", "false", "xx", "k.a", "k. a", "keine", "keine angabe", "not set", "select country"}
    | {"select", "please select", "bitte wählen", "bitte auswählen"}
)
_BRACKETS: Final = "()[]<>-–—. "
_LONGEST_CELL: Final = 100  # characters; a longer one names no country
_CALLING_CODE: Final = re.compile(r"(?:\+ ?|00(?=[0-9]{2}))([1-9][0-9]{0,2})")


def find_country(text: str) -> str | None:
    """Return the alpha-2 code for a code of two or three letters, a vehicle code (D), or a name; otherwise None.

    Names are those in English and other large languages. Case, accents, punctuation and a leading "the" do not matter.
    A calling code with a plus or 00 ("+44") is the country that has it, of several the main one: numbers of all of
    them are read alike.
    """
    if text in _CODES or not text:
        return text or None
    if (code := _CALLING_CODE.fullmatch(text.strip())) is not None:
        return _by_calling_code(int(code[1]))
    # NA is Namibia, but N/A is no country.
    if is_placeholder(text.strip()) and not text.strip().isalpha():
        return None
    if not text.isascii() and (flag := _FLAG.search(text)) is not None:
        return _of_flag(flag[0], _FLAG.sub("", text, count=1).strip())
    return _by_spelling().get(_spelling(text)) or _said_twice(text.strip())


def country_of_row(cell: str) -> str | None:
    """Return the country that `cell` of a row names; None for a cell that says nothing: blank, or a placeholder.

    Zeros are one, `False` (of Odoo), `XX`, and what a form offers before a country is chosen.
    A cell that says something else has UNKNOWN_COUNTRY, in which no national number can be read: by the default country
    it would be the number of another person.
    """
    if (found := find_country(cell)) is not None:
        return found
    word = cell.strip()
    says_nothing = not word or is_placeholder(word) or word.strip(_BRACKETS).casefold() in _NOTHING_CHOSEN
    return None if says_nothing else UNKNOWN_COUNTRY


# Two regional indicator symbols (Unicode, chapter 22.10) are the letters of a code.
_FLAG: Final = re.compile("[\U0001f1e6-\U0001f1ff]{2}")
_TWICE: Final = re.compile(r"(.{2,}?)(?: [-–—|] | ?[/:,(] ?)([^()]{2,}?)\)?")


def _of_flag(flag: str, rest: str) -> str | None:
    """The country of a flag, if nothing beside it says otherwise."""
    code = "".join(chr(ord(letter) - ord("\U0001f1e6") + ord("A")) for letter in flag)
    return code if code in _CODES and (not rest or find_country(rest) == code) else None


def _said_twice(text: str) -> str | None:
    """The country that two codes or names side by side both mean: "DE - Deutschland"."""
    if len(text) > _LONGEST_CELL or (parts := _TWICE.fullmatch(text)) is None:
        return None
    found = {_by_spelling().get(_spelling(part)) for part in parts.groups()}
    return found.pop() if len(found) == 1 else None


def is_calling_code(text: str) -> bool:
    """Whether a text is nothing but a country calling code with a plus or 00."""
    return _CALLING_CODE.fullmatch(text) is not None


def _by_calling_code(code: int) -> str | None:
    """The main country of a calling code; None of one that is no country's."""
    import phonenumbers  # most lists have codes of countries

    region: str = phonenumbers.region_code_for_country_code(code)
    return region if region in _CODES else None


def find_countries(texts: Iterable[str]) -> dict[str, str | None]:
    """Return the country of each of `texts`. Each distinct text is looked up once."""
    return {text: find_country(text) for text in set(texts)}


def _spelling(text: str) -> str:
    """Return the letters of `text`, without accents and case."""
    folded = in_form("NFKD", text.replace("&", " and ")).casefold()
    words = "".join(sign for sign in folded if sign.isalnum() or sign.isspace()).split()
    if words[:1] == ["the"]:
        words = words[1:]
    return "".join(words)


@cache
def _by_spelling() -> dict[str, str]:
    """Return the code for each spelling. Most lists have only codes, or no countries, and do not need it."""
    table: dict[str, str] = {}
    for line in f"{IN_OTHER_LANGUAGES.strip()}{COUNTRIES}".strip().splitlines():
        alpha2, *others = line.split("|")
        table |= {_spelling(name): alpha2 for name in (alpha2, *others) if name}
    return table
