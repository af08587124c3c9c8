"""Countries and what people call them: `alpha-2|alpha-3|name|other names`.

The codes are those of ISO 3166-1; the names are the everyday ones in English, with former names, the forms
that shops and spreadsheets offer, and the country's own name where customer lists hold it. A name that means
two countries ("Virgin Islands") is left out. AC, TA and XK are not in the standard but have phone numbers; EL
is what the European Union writes for Greece.
"""

from typing import Final

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
AT|AUT|Austria|Österreich|Oesterreich
AU|AUS|Australia
AW|ABW|Aruba
AX|ALA|Åland Islands|Åland
AZ|AZE|Azerbaijan
BA|BIH|Bosnia and Herzegovina|Bosnia|Bosnia-Herzegovina
BB|BRB|Barbados
BD|BGD|Bangladesh
BE|BEL|Belgium|België|Belgique
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
DE|DEU|Germany|Deutschland|Federal Republic of Germany
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
ES|ESP|Spain|España
ET|ETH|Ethiopia
FI|FIN|Finland|Suomi
FJ|FJI|Fiji
FK|FLK|Falkland Islands|Falkland Islands (Malvinas)|Falklands
FM|FSM|Micronesia|Micronesia, Federated States of|Federated States of Micronesia
FO|FRO|Faroe Islands|Faroes|Faeroe Islands
FR|FRA|France
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
HU|HUN|Hungary|Magyarország
ID|IDN|Indonesia
IE|IRL|Ireland|Republic of Ireland|Éire
IL|ISR|Israel
IM|IMN|Isle of Man
IN|IND|India
IO|IOT|British Indian Ocean Territory
IQ|IRQ|Iraq
IR|IRN|Iran|Iran, Islamic Republic of|Islamic Republic of Iran
IS|ISL|Iceland
IT|ITA|Italy|Italia
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
LU|LUX|Luxembourg|Luxemburg
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
NO|NOR|Norway|Norge
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
PT|PRT|Portugal
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
SE|SWE|Sweden|Sverige
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
