// 2/pi * 2^(32 j) mod 4 for j = 0 … 30, as sums of four doubles: what Payne-Hanek reduction
// multiplies an argument of exponent 32 j + … with (see trigonometric.cpp). Computed to 1600 bits.
#pragma once

namespace groove::kernels::functions {

inline constexpr int kTwoOverPiRows = 31;
inline constexpr double kTwoOverPi[4][kTwoOverPiRows] = {
    {0x1.45f306dc9c883p-1, 0x1.27220a94fe13bp+1, 0x1.fc2757d1f534ep+0, 0x1.f534ddc0db629p+0,
     0x1.b6c52b3278872p-1, 0x1.3c439041fe516p+0, 0x1.fe5163abdebbcp+0, 0x1.ef5de2b0db923p+1,
     0x1.b7246e3a424ddp+0, 0x1.2126e97003249p+1, 0x1.924bba8274648p-6, 0x1.04e8c90e7f0efp+1,
     0x1.fc3bd63962535p-1, 0x1.62534e7dd1047p-1, 0x1.74411afa975dap+1, 0x1.2ebb4484e99c7p+0,
     0x1.d338e04d68bf0p-1, 0x1.5a2fbf209cc8fp+1, 0x1.3991d63983534p+0, 0x1.835339f49c846p+0,
     0x1.3908bf177bf25p-1, 0x1.defc941d8ffc5p+1, 0x1.8ffc4bffef02dp+1, 0x1.ef02cc07f7979p+1,
     0x1.f79788c5ad053p+1, 0x1.ad05368fb69b4p+1, 0x1.b69b3f6793e58p+1, 0x1.93e584dba7a32p+1,
     0x1.a7a31fb34f2ffp+1, 0x1.4f2ff516ba93ep+1, 0x1.7527bac7ebe5fp+0},
    {-0x1.6b01ec5417056p-55, -0x1.05c1596447e49p-53, -0x1.1f924eb53361ep-55, 0x1.664f10e4107f9p-54,
     0x1.07f9458eaf7afp-58,  0x1.d5ef5de2b0db9p-55,  0x1.586dc91b8e909p-54,  0x1.c74849ba5c00dp-53,
     0x1.700324977504fp-55,  0x1.dd413a32439fcp-53,  0x1.cfe1deb1cb12ap-60,  0x1.63962534e7dd1p-53,
     -0x1.822efb9415a29p-57, -0x1.0568a25dbd8b3p-55, 0x1.213a671c09ad1p-54,  0x1.35a2fbf209cc9p-59,
     -0x1.bec66e29c67cbp-56, -0x1.38cf9598c16c7p-53, -0x1.82d8dee81d108p-54, -0x1.d1081b5f13802p-58,
     0x1.d8ffc4bffef03p-59,  -0x1.00043f4cfe022p-53, -0x1.fc04343b9d298p-54, -0x1.ce94beb25c126p-53,
     0x1.a3eda6cfd9e50p-53,  -0x1.30d834f648b0cp-56, 0x1.36e9e8c7ecd3dp-53,  -0x1.32c3402ba515bp-57,
     0x1.45aea4f758fd8p-53,  -0x1.4e050683a130cp-54, 0x1.7b3d0739f78a5p-56},
    {-0x1.6447e493ad4cep-109, -0x1.d6a66c3bc6fbep-108, 0x1.c820ff28b1d5fp-111,
     0x1.163abdebbc562p-108,  -0x1.d4f246dc8e2dfp-115, 0x1.1b8e909374b80p-110,
     0x1.ba5c00c925dd4p-109,  -0x1.b688afb1736f2p-107, -0x1.cdbc603c429c7p-109,
     0x1.deb1cb129a73fp-108,  -0x1.63045df7282b4p-114, 0x1.1afa975da2427p-111,
     0x1.a24274ce38136p-111,  -0x1.c7eca5d040df6p-111, 0x1.f7e413991d63ap-108,
     -0x1.4e33e566305b2p-115, 0x1.9cfa4e422fc5ep-111,  0x1.17e2ef7e4a0ecp-110,
     -0x1.b5f13801da001p-110, 0x1.2fffbc0b301fep-113,  -0x1.9fc04343b9d29p-114,
     0x1.788c5ad053690p-107,  0x1.4da3eda6cfd9ep-109,  0x1.b3f6793e584dcp-107,
     -0x1.a7b24585ce04dp-107, 0x1.8fd9a797fa8b6p-110,  -0x1.00ae9456c229cp-107,
     -0x1.14e050683a131p-114, -0x1.a0e84c2f8c608p-108, 0x1.ce7de294a4baap-110,
     0x1.497535fdafd89p-111},
    {0x1.e21c820ff28b2p-163,  -0x1.ae9c5421443aap-168, -0x1.443a9e48db91cp-168,
     -0x1.236e4716f6c8bp-162, 0x1.374b801924bbbp-170,  0x1.924bba8274648p-166,
     0x1.3a32439fc3bd6p-165,  0x1.fc3bd63962535p-161,  0x1.894d39f74411bp-163,
     -0x1.77dca0ad144bbp-164, -0x1.44bb7b16638fep-168, 0x1.338e04d68befdp-165,
     -0x1.741037d8cdc54p-165, -0x1.9b8a719f2b318p-166, -0x1.f2b3182d8dee8p-162,
     0x1.08bf177bf2507p-169,  -0x1.036be27003b40p-167, 0x1.ff897ffde0598p-164,
     0x1.e05980fef2f12p-164,  -0x1.a1dce94beb25cp-169, -0x1.f592e092c9813p-168,
     -0x1.25930261b069fp-161, 0x1.3e584dba7a320p-163,  -0x1.61738132c3403p-161,
     0x1.3cbfd45aea4f7p-161,  -0x1.5b08a7028341dp-165, -0x1.41a0e84c2f8c6p-164,
     0x1.0739f78a5292fp-168,  -0x1.d6b5b45650128p-162, -0x1.404a04ee072a3p-164,
     -0x1.ca8bdea7f33eep-170},
};

}  // namespace groove::kernels::functions
